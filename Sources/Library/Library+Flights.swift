import EventLoop
import HTTPMessage
import Store

/// Resources that a download wants together.
extension Library {
    /// The flights of resources of the asset at background urgency, in their order, each retained for the caller, who
    /// releases each when it has no more use for it.
    ///
    /// Neighbours among them, which are parts of one file, each beginning where the one before ends, are brought by one
    /// request. Each ends and becomes a piece by itself, as `flight(_:in:of:urgency:)` has it; what is under way
    /// already is joined, and the neighbours before and behind it are fetched without it.
    ///
    /// - Throws: `missing` when the asset was removed, `store` when there is neither disk nor memory for the bytes of
    ///   one.
    public func flights(
        _ resources: [Resource], in folder: PieceFolder, of asset: Asset
    ) throws(LibraryError) -> [Flight] {
        if asset.isRemoved { throw LibraryError(.missing, "\(asset.name) was removed") }
        let flights = try loader.flights(
            resources.map { current($0, in: folder, of: asset) }, folder: folder,
            isLasting: isLasting(folder, of: asset), access: asset.access,
            keeping: { keeping($0, in: folder, of: asset) },
            detour: { Detour(around: $0, in: folder, of: asset, library: self) })
        for flight in flights {
            if case .key(let number) = flight.resource.name.role {
                flight.expectation = asset.keys.life(of: number).digest
            }
        }
        return flights
    }
}
