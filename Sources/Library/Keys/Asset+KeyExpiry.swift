import EventLoop
import Fetching
import HTTPMessage
import Playheads
import Playlist
import Store

/// Finds expired and revoked keys that keep stored media from playing.
extension Asset {
    /// True if the asset was imported, and has no origin.
    public var isImported: Bool { origin.isPlaceholder }

    /// The error if only expired or revoked keys keep the asset from playing without the origin; names the command that
    /// renews them. Nil otherwise.
    public var keyExpiry: LibraryError? {
        guard !isPlayableOffline, let rendition = renditions.first(where: { !$0.isWhole && $0.isStored }) else {
            return nil
        }
        return keyExpiry(of: rendition)
    }

    /// The error if only expired or revoked keys keep a rendition from playing.
    public func keyExpiry(of rendition: Rendition) -> LibraryError {
        LibraryError(.keyExpired, "\(rendition.expiryInWords(of: name)); renew with: weir keys \(name) --renew")
    }

    /// The error if an expired or revoked key is requested.
    public func keyExpiry(of number: Int) -> LibraryError {
        let words = keys.state(of: number) == .invalidated ? "was invalidated" : "has expired"
        return LibraryError(.keyExpired, "key \(number) of \(name) \(words); renew with: weir keys \(name) --renew")
    }
}

extension Rendition {
    /// Its expired and revoked keys.
    package var expiredKeys: Set<Int> {
        let unusable = keys.unusable
        guard !unusable.isEmpty, let source else { return [] }
        return unusable.intersection(source.playlist.keys.compactMap { number(of: $0) })
    }

    fileprivate func expiryInWords(of asset: String) -> String {
        let states = expiredKeys.map { keys.state(of: $0) }
        let words = states.contains(.expired) ? "expired" : "was invalidated"
        let what = name.displayName.map { "\(asset) \($0)" } ?? asset
        return states.count > 1 && words == "expired"
            ? "the keys of \(what) have expired"
            : states.count > 1
                ? "keys of \(what) were invalidated"
                : "the key of \(what) \(words == "expired" ? "has expired" : words)"
    }
}

extension Library {
    /// True if a session that began before a key expired may still use it. As with an asset's own expiry, a running
    /// session may play to the end. No session gets a revoked key.
    public func outlives(_ session: String, key number: Int, of asset: Asset) -> Bool {
        let life = asset.keys.life(of: number)
        guard life.invalidated == nil, let end = life.expiration(by: asset.keys.terms) ?? life.expiredAt,
            let age = playheads.age(of: session)
        else { return false }
        return date() - age < end
    }

    /// True if a session may still use all the keys of a rendition.
    public func outlives(_ session: String, keysOf rendition: Rendition, of asset: Asset) -> Bool {
        rendition.expiredKeys.allSatisfy { number in
            asset.keys.folder.contains(KeyRing.name(number).description) && outlives(session, key: number, of: asset)
        }
    }
}
