import EventLoop
import Fetching
import HTTPMessage
import Store

extension Asset {
    /// Changes whenever the listed state of an asset changes. Computed without reading the disk.
    public struct Signature: Equatable, Sendable {
        let id: String
        let name: String
        let title: String?
        let origin: WebURL
        let life: StorageLife
        let isAsleep: Bool
        let artwork: Artwork.Kind??
        let refusal: String?
        let unusableKeys: Set<Int>
        let keyChanges: Int
        var isChanged = false
        var edition = 0
        var changes = 0
        var cachedBytes: Int64 = 0
    }

    /// The present signature.
    public var signature: Signature {
        var signature = Signature(
            id: id, name: name, title: title, origin: origin, life: life, isAsleep: isAsleep, artwork: knownArtwork,
            refusal: refusal, unusableKeys: keys.unusable, keyChanges: keys.turns)
        guard !isAsleep else { return signature }
        signature.isChanged = hasChanged
        signature.edition = edition
        for rendition in renditions { signature.edition += rendition.edition }
        for folder in folders {
            signature.changes += folder.changes
            signature.cachedBytes += folder.cachedBytes
        }
        return signature
    }
}
