import EventLoop
import Fetching
import HTTPMessage
import HTTPServer
import Library
import Retention

/// What is not to be played any more.
extension Playback {
    /// Answers with why an asset is not played any more, where that is so: 410.
    ///
    /// - Parameter session: who asks; one that has begun before goes on to its end. nil for one that begins.
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

    /// Answers for a key that may not be used any more, where that is so: from the origin where that may be asked, since it
    /// is for the origin to say who has a key of it; else with 410. A session that began before its end goes on.
    func lapsed(_ exchange: Exchange, _ place: PiecePlace, _ file: String, _ tells: Bool) -> Bool {
        let asset = place.asset
        guard place.folder === asset.keys.folder, case .key(let number)? = PieceName(file)?.role,
            !asset.keys.isUsable(number), !library.outlives(place.session.id, key: number, of: asset)
        else { return false }
        if place.session.mode != .offline, !library.isOffline, !asset.isImported {
            absent(exchange, place, file, tells)
        } else {
            refuse(exchange, asset.keyLapse(of: number), about: Subject(place.session, asset, exchange.head.path))
        }
        return true
    }
}
