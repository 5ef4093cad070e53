import EventLoop

extension Library {
    /// The flights of resources for a download, each retained for the caller as `flight` does.
    public func flights(
        _ resources: [Resource], in folder: PieceFolder, of asset: Asset
    ) throws(LibraryError) -> [Flight] {
        var flights: [Flight] = []
        do throws(LibraryError) {
            for resource in resources {
                flights.append(try flight(resource, in: folder, of: asset, urgency: .background))
            }
        } catch {
            for flight in flights { flight.release() }
            throw error
        }
        return flights
    }
}
