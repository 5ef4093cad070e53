import Fetching
import Playlist

/// Names the media playlists of images that EXT-X-IMAGE-STREAM-INF lists: `images-180p`.
///
/// Downloads and offline playback ignore them, since no player needs them. Images that were played are cached.
enum ImageRenditions {
    /// The names, in the order of `MultivariantPlaylist.imageVariants`. They depend only on the text of the playlist.
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
