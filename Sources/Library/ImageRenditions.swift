import Fetching
import Playlist

/// What the media playlists of pictures are called that EXT-X-IMAGE-STREAM-INF names: `images-180p`.
///
/// They are no renditions that a download or an offline view reckons with, since no player needs them; what flows is
/// kept.
enum ImageRenditions {
    /// The names, in the order of `MultivariantPlaylist.imageVariants`: a function of the text alone.
    static func names(_ playlist: MultivariantPlaylist) -> [RenditionNaming.Name] {
        var taken: Set<String> = []
        return playlist.imageVariants.map { variant in
            let height = variant.resolution.map { "-\($0.height)p" } ?? ""
            let id = AssetNaming.unique("images" + height) { taken.contains($0) }
            taken.insert(id)
            return RenditionNaming.Name(id: id, content: .images, isIFramesOnly: false)
        }
    }
}
