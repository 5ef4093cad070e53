import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Library
import Retention

/// Refuses expired assets and keys.
extension Playback {
    /// Answers 410 if the asset has expired.
    ///
    /// - Parameter session: the session that sends the request; a session that began before the expiry may continue.
    ///   nil for a new session.
    /// - Returns: true if the request was answered.
    func expired(_ exchange: Exchange, _ asset: Asset, _ session: Session? = nil) -> Bool {
        do throws(LibraryError) {
            if let session {
                try retention.checkExpiry(of: asset, for: session.id)
            } else {
                try retention.checkExpiry(of: asset)
            }
            return false
        } catch {
            refuse(exchange, error, about: Subject(session, asset, asset.origin.replacingQuery(nil).text))
            return true
        }
    }

    /// Answers a request for an expired key; returns false if the key is still usable. If the origin may be asked, the
    /// key is fetched again, because the origin decides who gets it. Otherwise the answer is 410. A session that began
    /// before the expiry may continue.
    func refusedForExpiredKey(_ exchange: Exchange, _ place: RequestedFolder, _ file: String, _ tells: Bool) -> Bool {
        let asset = place.asset
        guard place.folder === asset.keys.folder, case .key(let number)? = PieceName(file)?.role,
            !asset.keys.isUsable(number), !library.keys.mayUse(place.session.id, key: number, of: asset)
        else { return false }
        if place.session.mode != .offline, !library.isOffline, !asset.isImported {
            absent(exchange, place, file, tells)
        } else {
            refuse(exchange, asset.keyExpiry(of: number), about: Subject(place.session, asset, exchange.head.path))
        }
        return true
    }
}
