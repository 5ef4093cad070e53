import EventLoop
import HTTPMessage
import HTTPServer
import Library
import Playheads

/// Loads the playlists that libavformat is about to ask for. It loads each after the one before, so that each costs the way to the
/// origin and back; loaded together, all cost it once.
extension Playback {
    /// The playlists that are loaded ahead of the latest request: so many a player that goes away leaves behind.
    private static let playlistsAhead = 3

    /// Begins to load the playlists after that of `rendition`, if the player will ask for them.
    /// - Parameter rendition: the rendition whose playlist is requested; nil for the entry.
    func loadPlaylists(after rendition: Rendition?, of asset: Asset, for exchange: Exchange) {
        guard Libavformat.sent(exchange.head), asset.multivariant != nil else { return }
        let next = (rendition?.place ?? -1) + 1
        for rendition in asset.renditions.dropFirst(next).prefix(Self.playlistsAhead)
        where rendition.source == nil && !rendition.name.isIFramesOnly {
            Task { @LoopActor in
                library.playheads.openingBegan()
                defer { library.playheads.openingEnded() }
                // An error is the player's if it joins this load, or asks again.
                _ = try? await library.playlists.source(of: rendition, in: asset)
            }
        }
    }
}
