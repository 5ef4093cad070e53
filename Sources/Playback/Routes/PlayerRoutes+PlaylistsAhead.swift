import Assets
import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Sessions

/// Loads the playlists that libavformat is about to ask for. It asks for one after the other, and waits for a round trip to the origin
/// each time. Several at a time need fewer.
extension PlayerRoutes {
    /// The playlists that are loaded at a time.
    private static let lanes = 3
    /// The most playlists that are loaded for an entry: a player may leave after the first.
    private static let mostPlaylists = 24

    /// Begins to load the playlists of the variants and of their sound, after an entry that lists all of them.
    func loadPlaylists(of asset: Asset, for exchange: Exchange) {
        guard KnownPlayer(exchange.head).isLibavformat, asset.multivariant != nil else { return }
        // Most versions load no subtitles.
        let wanted = asset.renditions.prefix(Self.mostPlaylists).filter {
            $0.source == nil && $0.name.content == .media && !$0.name.isIFramesOnly
        }
        for lane in 0..<min(Self.lanes, wanted.count) {
            Task { @LoopActor in
                for index in stride(from: lane, to: wanted.count, by: Self.lanes) {
                    let rendition = wanted[index]
                    guard rendition.source == nil, asset.content.has(rendition) else { continue }
                    // An error is the player's if it joins this load, or asks again.
                    guard (try? await library.playlists.source(of: rendition, in: asset)) != nil else { return }
                }
            }
        }
    }
}
