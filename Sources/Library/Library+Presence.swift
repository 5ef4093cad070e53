import EventLoop
public import Fetching
import Origin

/// Decides if a request to the origin is worthwhile for a player with an alternative.
extension Library {
    /// True if the latest request to the origin of a resource got no answer, and there is no alternate source.
    public func isPresumedAbsent(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Bool {
        if let rendition = asset.rendition(folder.id), asset.hasMirrors(rendition) { return false }
        return playlistFetcher.client.isPresumedAbsent(current(resource, in: folder, of: asset).url)
    }
}
