import EventLoop
public import Fetching
import HTTPMessage
import Store

/// Fetches several resources of a download together.
extension Library {
    /// Returns the fetches of resources of the asset at background urgency, in the given order. Each fetch is retained
    /// for the caller, who must release it.
    ///
    /// Adjacent byte ranges of one file share one merged request. Each fetch ends and becomes a piece by itself, as in
    /// `fetch(_:in:of:urgency:)`. A fetch that is already under way is joined; its neighbours are fetched without it.
    ///
    /// - Throws: `missing` if the asset was removed, `store` if neither disk nor memory has space for one of the
    ///   resources.
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
