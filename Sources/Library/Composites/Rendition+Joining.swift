import Fetching
import Playlist
import SegmentFormat

/// What counts where pieces of two renditions are to play one after the other.
extension Rendition {
    /// What segments are, as far as they are joined in different ways.
    enum Container: String {
        case transportStream = "MPEG-TS"
        case fragments = "fragmented MP4"
        case packedAudio = "packed AAC"
        case other = "of another kind"
    }

    /// What its segments are, by their names and by whether they have initialization sections.
    var container: Container {
        guard let first = source?.playlist.segments.first else { return .other }
        if first.map != nil { return .fragments }
        return switch name(of: first).fileExtension {
        case "ts": .transportStream
        case "aac": .packedAudio
        default: .other
        }
    }

    /// Whether any of it is encrypted as HLS has it, so that its boxes and packets cannot be read.
    var isEncrypted: Bool { source?.playlist.keys.contains { $0.method != .none } ?? false }

    /// An initialization section, as it is stored; nil where it is not there, encrypted, or none.
    func section(_ map: Map) -> InitializationSection? {
        guard !map.keys.contains(where: { $0.method != .none }) else { return nil }
        return folder.reading(name(of: map).description) { source in
            try? InitializationSection(source)
        }
    }

    /// Whether a player decrypts another rendition's segment as it should where it stands in for an own one: the player
    /// goes by the own playlist alone.
    ///
    /// That is so where both are clear, and where both are encrypted as wholes (AES-128) with one key and one
    /// initialization vector (RFC 8216 §5.2). Of samples that are encrypted (SAMPLE-AES) nothing is said.
    func isDecrypted(_ segment: Segment, like other: Segment, of rendition: Rendition) -> Bool {
        let (mine, its) = (segment.keys.filter { $0.method != .none }, other.keys.filter { $0.method != .none })
        if mine.isEmpty, its.isEmpty { return true }
        guard mine.count == 1, its.count == 1, mine[0].method == .aes128, its[0].method == .aes128,
            let number = number(of: mine[0]), number == rendition.number(of: its[0])
        else { return false }
        return segment.vector(of: mine[0]) == other.vector(of: its[0])
    }
}

extension Segment {
    /// What it is encrypted with beside the key: the key's own, or its media sequence number in 16 bytes.
    fileprivate func vector(of key: Key) -> [UInt8] {
        if let vector = key.initializationVector { return vector }
        return (0..<16).reversed().map { $0 < 8 ? UInt8(truncatingIfNeeded: mediaSequenceNumber >> (8 * $0)) : 0 }
    }
}
