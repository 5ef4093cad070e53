import EventLoop
import Glibc
import HTTPServer

/// The long playlists that are being sent, each kept once for all connections.
///
/// The playlists of two sessions differ only in the session's id within their URLs. The shared text has zeros in its place.
@LoopActor final class SharedTexts {
    fileprivate final class Text: Sendable {
        let bytes: [UInt8]
        /// Offsets of the session's id.
        let places: [Int]

        init(_ bytes: [UInt8], _ places: [Int]) { (self.bytes, self.places) = (bytes, places) }
    }

    private struct Known {
        weak var text: Text?
    }

    /// Shorter texts are copied: that is cheaper, and still little for a connection.
    static let threshold = 64 * 1024
    private var known: [Int: Known] = [:]

    /// The number of texts that are being sent.
    var count: Int { known.values.count { $0.text != nil } }

    /// The text as a body for one session, whose id may be in it between two slashes.
    func body(_ bytes: consuming [UInt8], of session: Session) -> RepresentationBody {
        guard bytes.count > Self.threshold else { return .bytes(bytes) }
        let id = Array(session.id.utf8)
        let places = Self.places(of: [UInt8(ascii: "/")] + id + [UInt8(ascii: "/")], in: bytes).map { $0 + 1 }
        for place in places { for offset in id.indices { bytes[place + offset] = 0 } }
        return .rendered(SessionText(text(bytes, places), id))
    }

    private func text(_ bytes: [UInt8], _ places: [Int]) -> Text {
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        let hash = hasher.finalize()
        if let text = known[hash]?.text, text.places == places, text.bytes == bytes { return text }
        known = known.filter { $0.value.text != nil }
        let text = Text(bytes, places)
        known[hash] = Known(text: text)
        return text
    }

    private static func places(of pattern: [UInt8], in bytes: [UInt8]) -> [Int] {
        bytes.withUnsafeBytes { all in
            var places: [Int] = []
            guard let base = all.baseAddress else { return places }
            let last = all.count - pattern.count
            var next = 0
            while next <= last, let found = memchr(base + next, Int32(pattern[0]), last - next + 1) {
                let place = UnsafeRawPointer(found) - base
                let isFound = memcmp(found, pattern, pattern.count) == 0
                if isFound { places.append(place) }
                // The slash at the end may begin the next one.
                next = place + (isFound ? pattern.count - 1 : 1)
            }
            return places
        }
    }
}

/// A shared text with the id of one session.
@LoopActor final class SessionText: RenderedBody {
    private let text: SharedTexts.Text
    private let id: [UInt8]

    fileprivate init(_ text: SharedTexts.Text, _ id: [UInt8]) { (self.text, self.id) = (text, id) }

    nonisolated var count: Int { text.bytes.count }

    func bytes(in range: Range<Int>) -> [UInt8] {
        var bytes = Array(text.bytes[range])
        for place in text.places[firstPlace(endingAfter: range.lowerBound)...] {
            guard place < range.upperBound else { break }
            for offset in id.indices where range.contains(place + offset) {
                bytes[place + offset - range.lowerBound] = id[offset]
            }
        }
        return bytes
    }

    /// The index of the first place whose id is not wholly before an offset.
    private func firstPlace(endingAfter offset: Int) -> Int {
        var (low, high) = (0, text.places.count)
        while low < high {
            let middle = (low + high) / 2
            if text.places[middle] + id.count <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
