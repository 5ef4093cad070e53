import Fetching
import Playlist
import SegmentFormat

/// Properties that matter if pieces of two renditions play one after the other.
extension Rendition {
    /// The segment formats, which need different splices.
    enum Container: String {
        case transportStream = "MPEG-TS"
        case fragments = "fragmented MP4"
        case packedAudio = "packed AAC"
        case other = "of another kind"
    }

    /// The segment format, from the file names and the presence of initialization sections.
    var container: Container {
        guard let first = source?.playlist.segments.first else { return .other }
        if first.map != nil { return .fragments }
        return switch name(of: first).fileExtension {
        case "ts": .transportStream
        case "aac": .packedAudio
        default: .other
        }
    }

    /// True if any of it is encrypted by HLS, so that its boxes and packets cannot be read.
    var isEncrypted: Bool { source?.playlist.keys.contains { $0.method != .none } ?? false }

    /// Reads a stored initialization section; nil if it is not stored, encrypted, or invalid.
    func section(_ map: Map) -> InitializationSection? {
        guard !map.keys.contains(where: { $0.method != .none }) else { return nil }
        return folder.reading(name(of: map).description) { source in
            try? InitializationSection(source)
        }
    }

    /// True if a player correctly decrypts another rendition's segment in the place of an own one. The player knows
    /// only the own playlist.
    ///
    /// That is so if both are clear, or if both are encrypted as a whole (AES-128) with one key and one initialization
    /// vector (RFC 8216 §5.2). For encrypted samples (SAMPLE-AES) the answer is no.
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
    /// The initialization vector: the key's own, or the media sequence number in 16 bytes.
    fileprivate func vector(of key: Key) -> [UInt8] {
        if let vector = key.initializationVector { return vector }
        return (0..<16).reversed().map { $0 < 8 ? UInt8(truncatingIfNeeded: mediaSequenceNumber >> (8 * $0)) : 0 }
    }
}
