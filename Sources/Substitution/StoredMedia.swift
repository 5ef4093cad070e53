import Assets
import Fetching
import HLS
import SegmentFormat

/// The segment formats, which need different splices.
enum Container: String {
    case transportStream = "MPEG-TS"
    case fragments = "fragmented MP4"
    case packedAudio = "packed AAC"
    case other = "of another kind"
}

/// Properties that matter if pieces of two renditions play one after the other.
extension Rendition {
    /// The segment format, from the file names and the presence of initialization sections.
    var container: Container {
        guard let first = source?.playlist.segments.first else { return .other }
        if first.map != nil {
            return .fragments
        }
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
        return folder.reading(name(of: map).description) { try? InitializationSection($0) }
    }

    /// True if a player correctly decrypts another rendition's segment in the place of an own one. The player knows
    /// only the own playlist. That is so if both are clear, or if both are encrypted as a whole (AES-128) with one key
    /// and one initialization vector (RFC 8216 §5.2). For encrypted samples (SAMPLE-AES) the answer is no.
    func decrypts(_ other: Segment, of rendition: Rendition, inPlaceOf segment: Segment) -> Bool {
        let keys = segment.keys.filter { $0.method != .none }
        let others = other.keys.filter { $0.method != .none }
        if keys.isEmpty, others.isEmpty {
            return true
        }
        guard keys.count == 1, others.count == 1, keys[0].method == .aes128, others[0].method == .aes128,
            let number = number(of: keys[0]), number == rendition.number(of: others[0])
        else { return false }
        return keys[0].vector(for: segment) == others[0].vector(for: other)
    }
}
