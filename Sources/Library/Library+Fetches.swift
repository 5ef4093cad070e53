import EventLoop
public import Fetching
import HTTPMessage
import Store

/// Resources that a download wants together.
extension Library {
    /// The fetches of resources of the asset at background urgency, in their order, each retained for the caller, who
    /// releases each when it has no more use for it.
    ///
    /// Neighbours among them, which are parts of one file, each beginning where the one before ends, are brought by one
    /// request. Each ends and becomes a piece by itself, as `fetch(_:in:of:urgency:)` has it; what is under way
    /// already is joined, and the neighbours before and behind it are fetched without it.
    ///
    /// - Throws: `missing` when the asset was removed, `store` when there is neither disk nor memory for the bytes of
    ///   one.
    public func fetches(
        _ resources: [Resource], in folder: PieceFolder, of asset: Asset
    ) throws(LibraryError) -> [Fetch] {
        if asset.isRemoved { throw LibraryError(.missing, "\(asset.name) was removed") }
        let fetches: [Fetch]
        do {
            fetches = try loader.fetches(
                resources.map { current($0, in: folder, of: asset) }, folder: folder,
                isLasting: isLasting(folder, of: asset), access: asset.access,
                keeping: { keeping($0, in: folder, of: asset) },
                alternates: { ResourceSources(around: $0, in: folder, of: asset, library: self) })
        } catch {
            throw LibraryError(error)
        }
        for fetch in fetches {
            if case .key(let number) = fetch.resource.name.role {
                fetch.expectation = asset.keys.life(of: number).digest
            }
        }
        return fetches
    }
}
