/// Finds the segments of a playlist by what they are of: a file, or a byte range of one. Pure.
///
/// A playlist may list the same one more than once, as a slate between two parts, and the playlists of several variants may list the
/// same ones. Weir names segments by their number, and fetches a file once all the same.
public struct SegmentLocations: Sendable {
    /// The last component of each segment's URI and its range as a hash, with the segment's index in the lowest bits. Sorted.
    private let entries: [UInt64]
    /// The first of the segments that list the same as a later one, by the later one's index. The URIs are equal as they are written.
    private let firsts: [Int: Int]
    /// All segments that list the same, in order, by the first one's index.
    private let groups: [Int: [Int]]

    /// Indices are below this: no playlist has more segments.
    private static let indexBits: UInt64 = 20
    private static let indexMask: UInt64 = (1 << indexBits) - 1
    /// Most segments that are named at one end of a group, or beside one of its members.
    private static let few = 4

    /// Reads a playlist. The time grows with the number of segments.
    public init(_ playlist: MediaPlaylist) {
        let segments = playlist.segments
        guard segments.count <= Int(Self.indexMask) else {
            entries = []
            firsts = [:]
            groups = [:]
            return
        }

        var entries: [UInt64] = []
        entries.reserveCapacity(segments.count)
        for segment in segments where !segment.isGap {
            entries.append(Self.key(of: segment) | UInt64(segment.index))
        }
        entries.sort()
        self.entries = entries

        var firsts: [Int: Int] = [:]
        var groups: [Int: [Int]] = [:]
        for run in Self.runs(in: entries) {
            var seen: [Whole: Int] = [:]
            for entry in entries[run] {
                let index = Int(entry & Self.indexMask)
                let segment = segments[index]
                let whole = Whole(uri: segment.uriBytes, range: segment.byteRange)
                guard let first = seen[whole] else {
                    seen[whole] = index
                    continue
                }
                firsts[index] = first
                groups[first, default: [first]].append(index)
            }
        }
        self.firsts = firsts
        self.groups = groups
    }

    /// The entries that have a hash in common with others. Most playlists have none.
    private static func runs(in entries: [UInt64]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start = 0
        for index in entries.indices.dropFirst() where entries[index] & ~indexMask != entries[start] & ~indexMask {
            if index - start > 1 {
                runs.append(start..<index)
            }
            start = index
        }
        if entries.count - start > 1 {
            runs.append(start..<entries.count)
        }
        return runs
    }

    private struct Whole: Hashable {
        let uri: ArraySlice<UInt8>
        let range: SubRange?
    }

    /// The first segment that lists the same as this one, and so its own index for that one; nil if no other does.
    public func first(of index: Int) -> Int? {
        if groups[index] != nil {
            return index
        }
        return firsts[index]
    }

    /// True if a segment is listed more than once.
    public var hasRepeats: Bool { !groups.isEmpty }

    /// The groups of segments that list the same, each in order.
    public var repeats: some Collection<[Int]> { groups.values }

    /// Others that list the same as this segment of the playlist: of many, the first ones and the nearest.
    public func others(like index: Int) -> [Int] {
        guard let first = first(of: index), let group = groups[first] else { return [] }
        let position = group.partitioningIndex { $0 >= index }
        let near = group[max(0, position - Self.few)..<min(group.count, position + Self.few + 1)]
        let found = Set(group.prefix(Self.few) + near).subtracting([index])
        return found.sorted()
    }

    /// Segments that may list the same as a segment of another playlist: the last component of the URI and the range are equal. Compare the
    /// resolved URLs. Of many, the first ones.
    public func candidates(like other: Segment) -> [Int] {
        let key = Self.key(of: other)
        let start = entries.partitioningIndex { $0 >= key }
        let found = entries[start...].prefix(Self.few).prefix { $0 & ~Self.indexMask == key }
        return found.map { Int($0 & Self.indexMask) }
    }

    /// A hash of the last component of the URI, with its query, and of the range. The lowest bits are 0.
    private static func key(of segment: Segment) -> UInt64 {
        var hash = NameHash()
        var isPath = true
        for byte in segment.uriBytes {
            if isPath, byte == UInt8(ascii: "/") {
                hash = NameHash()
                continue
            }
            if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") {
                isPath = false
            }
            hash.add(byte)
        }
        if let range = segment.byteRange {
            hash.add(range.offset)
            hash.add(range.length)
        }
        return hash.value & ~indexMask
    }
}

/// FNV-1a, of 64 bits.
private struct NameHash {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func add(_ byte: UInt8) {
        value ^= UInt64(byte)
        value &*= 0x0000_0100_0000_01b3
    }

    mutating func add(_ number: some FixedWidthInteger) {
        var rest = UInt64(truncatingIfNeeded: number)
        for _ in 0..<8 {
            add(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }
}

extension RandomAccessCollection {
    /// The first index whose element fulfils the condition, which holds for all elements behind one that fulfils it.
    fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Index {
        var low = startIndex
        var count = count
        while count > 0 {
            let half = count / 2
            let middle = index(low, offsetBy: half)
            if isBehind(self[middle]) {
                count = half
            } else {
                low = index(after: middle)
                count -= half + 1
            }
        }
        return low
    }
}
