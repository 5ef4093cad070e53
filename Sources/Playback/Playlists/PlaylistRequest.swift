import Assets
import EventLoop
import HTTPMessage
import HTTPServer
import Sessions

/// A player's request for a playlist.
struct PlaylistRequest: Sendable {
    let exchange: Exchange
    let asset: Asset
    let session: Session

    /// For the log, if it fails.
    @LoopActor var subject: RequestSubject {
        RequestSubject(session: session.id, asset: asset, uri: exchange.head.path)
    }
}
