import Assets
import EventLoop
import Glibc

/// The path of all that one session may request, and its offsets in texts that are written for all sessions.
enum SessionPath {
    /// Stands for the path at the beginning of a URI. No origin knows it, so none can put it in its texts.
    static let mark = "~\(String(UInt64.random(in: 0...UInt64.max), radix: 36))\(UInt64.random(in: 0...UInt64.max))~"
}

extension Session {
    /// The path of all that the session may request.
    /// - Parameter mount: the path prefix of a player that does not reach Weir at the root.
    @LoopActor func path(in asset: Asset, behind mount: String) -> String { "\(mount)/a/\(asset.id)/\(id)/" }
}

/// A text without the path of a session, for all sessions.
struct SessionlessText: Equatable, Sendable {
    let bytes: [UInt8]
    /// The offsets in `bytes` at which the path is left out. Most media playlists have none: their URIs are relative.
    let gaps: [Int]
    let fingerprint: UInt64
    private static let mark = Array(SessionPath.mark.utf8)

    /// - Parameter marked: the text with marks.
    init(_ marked: consuming [UInt8]) {
        let offsets = Self.markOffsets(in: marked)
        // Without a gap the text is not copied.
        guard !offsets.isEmpty else {
            fingerprint = Fingerprint.of(marked)
            bytes = marked
            gaps = []
            return
        }

        let length = Self.mark.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(marked.count - offsets.count * length)
        var gaps: [Int] = []
        gaps.reserveCapacity(offsets.count)
        var end = 0
        for offset in offsets {
            bytes += marked[end..<offset]
            gaps.append(bytes.count)
            end = offset + length
        }
        bytes += marked[end...]
        fingerprint = Fingerprint.of(bytes)
        self.bytes = bytes
        self.gaps = gaps
    }

    private static func markOffsets(in text: [UInt8]) -> [Int] {
        text.withUnsafeBytes { text in
            var offsets: [Int] = []
            guard let start = text.baseAddress else { return offsets }
            var begin = 0
            while let found = memchr(start + begin, Int32(mark[0]), text.count - begin) {
                let offset = start.distance(to: UnsafeRawPointer(found))
                if text.count - offset >= mark.count, memcmp(found, mark, mark.count) == 0 {
                    offsets.append(offset)
                    begin = offset + mark.count
                } else {
                    begin = offset + 1
                }
            }
            return offsets
        }
    }

    /// The length of the text with a path of this length.
    func count(withPathOf length: Int) -> Int { bytes.count + gaps.count * length }

    /// A range of the text with a path.
    func bytes(in range: Range<Int>, with path: [UInt8]) -> [UInt8] {
        guard !gaps.isEmpty || range != bytes.indices else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var gap = firstGap(endingAfter: range.lowerBound, path.count)
        var offset = range.lowerBound
        while offset < range.upperBound {
            // Each path in front of the offset has moved what follows it.
            let moved = gap * path.count
            var start = range.upperBound
            if gap < gaps.count {
                start = gaps[gap] + moved
            }
            if offset < start {
                let end = min(start, range.upperBound)
                result += bytes[offset - moved..<end - moved]
                offset = end
            } else {
                let end = min(start + path.count, range.upperBound)
                result += path[offset - start..<end - start]
                offset = end
                gap += 1
            }
        }
        return result
    }

    /// The index of the first gap whose path is not wholly before an offset.
    private func firstGap(endingAfter offset: Int, _ length: Int) -> Int {
        var candidates = 0..<gaps.count
        while !candidates.isEmpty {
            let middle = (candidates.lowerBound + candidates.upperBound) / 2
            let end = gaps[middle] + (middle + 1) * length
            if end <= offset {
                candidates = middle + 1..<candidates.upperBound
            } else {
                candidates = candidates.lowerBound..<middle
            }
        }
        return candidates.lowerBound
    }
}
