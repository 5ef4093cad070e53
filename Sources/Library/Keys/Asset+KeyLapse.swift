import EventLoop
import Fetching
import HTTPMessage
import Playheads
import Playlist
import Store

/// Why something does not play although it is stored.
extension Asset {
    /// Whether it was imported, and has no origin.
    public var isImported: Bool { origin.isPlaceholder }

    /// Why nothing of it plays without the origin, where all that is missing is keys that may not be used any more: with
    /// the command that renews them; nil where that is not so.
    public var keyLapse: LibraryError? {
        guard !isPlayableOffline, let rendition = renditions.first(where: { !$0.isWhole && $0.isStored }) else {
            return nil
        }
        return keyLapse(of: rendition)
    }

    /// The same of a rendition.
    public func keyLapse(of rendition: Rendition) -> LibraryError {
        LibraryError(.keyLapsed, "\(rendition.lapseInWords(of: name)); renew with: weir keys \(name) --renew")
    }

    /// Why a key is not given to a player.
    public func keyLapse(of number: Int) -> LibraryError {
        let words = keys.state(of: number) == .invalidated ? "was invalidated" : "has expired"
        return LibraryError(.keyLapsed, "key \(number) of \(name) \(words); renew with: weir keys \(name) --renew")
    }
}

extension Rendition {
    /// Keys of it that may not be used any more.
    var lapsedKeys: Set<Int> {
        let unusable = keys.unusable
        guard !unusable.isEmpty, let source else { return [] }
        return unusable.intersection(source.playlist.keys.compactMap { number(of: $0) })
    }

    fileprivate func lapseInWords(of asset: String) -> String {
        let states = lapsedKeys.map { keys.state(of: $0) }
        let words = states.contains(.expired) ? "expired" : "was invalidated"
        let what = inWords.map { "\(asset) \($0)" } ?? asset
        return states.count > 1 && words == "expired"
            ? "the keys of \(what) have expired"
            : states.count > 1
                ? "keys of \(what) were invalidated"
                : "the key of \(what) \(words == "expired" ? "has expired" : words)"
    }
}

extension Library {
    /// Whether a session that began before a key expired may have it still: as with an asset's own expiry, who has begun
    /// sees the end. What was invalidated nobody gets.
    public func outlives(_ session: String, key number: Int, of asset: Asset) -> Bool {
        let life = asset.keys.life(of: number)
        guard life.invalidated == nil, let end = life.expiration(by: asset.keys.terms) ?? life.lapsed,
            let age = playheads.age(of: session)
        else { return false }
        return date() - age < end
    }

    /// The same of all the keys of a rendition.
    public func outlives(_ session: String, keysOf rendition: Rendition, of asset: Asset) -> Bool {
        rendition.lapsedKeys.allSatisfy { number in
            asset.keys.folder.contains(KeyRing.name(number).description) && outlives(session, key: number, of: asset)
        }
    }
}
