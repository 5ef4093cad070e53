import EventLoop
public import Fetching
import Origin

/// Whether it is worth while to ask an origin, for who has something else to play.
extension Library {
    /// Whether what was last asked of the origin of a resource was waited for in vain, and no other has it.
    public func isPresumedAbsent(_ resource: Resource, in folder: PieceFolder, of asset: Asset) -> Bool {
        if let rendition = asset.rendition(folder.id), asset.hasMirrors(rendition) { return false }
        return playlistFetcher.client.isPresumedAbsent(current(resource, in: folder, of: asset).url)
    }
}
