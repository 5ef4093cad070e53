import EventLoop
import HTTPMessage
import HTTPServer
import Library

/// What is not to be played any more.
extension Playback {
    /// Answers with why an asset is not played any more, where that is so: 410.
    ///
    /// - Parameter session: who asks; one that has begun before goes on to its end. nil for one that begins.
    func expired(_ exchange: Exchange, _ asset: Asset, _ session: Session? = nil) -> Bool {
        do throws(LibraryError) {
            if let session {
                try library.checkExpiry(of: asset, for: session.id)
            } else {
                try library.checkExpiry(of: asset)
            }
            return false
        } catch {
            refuse(exchange, error, about: Subject(session, asset, asset.origin.replacingQuery(nil).text))
            return true
        }
    }
}
