/// The parsed boxes of a fragmented MPEG-4 Media Segment (RFC 8216 §3.3). The content of `mdat` is not read.
public struct MediaSegment: Sendable {
    let count: Int
    /// Top-level boxes, in order and without a gap.
    let boxes: [Box]
    /// Movie fragments in order; never empty.
    let fragments: [MovieFragment]
    /// Parts of the file that were read and can be sent from memory, in order.
    let loaded: [FileBytes]

    /// Parses the boxes of a segment.
    public init(_ source: ByteSource) throws(SegmentFormatError) {
        var walk = SegmentWalk(source)
        while try walk.step() {}
        guard !walk.fragments.isEmpty else {
            throw SegmentFormatError(.missingBox, in: "moof", "there is no movie fragment in the segment")
        }
        count = source.count
        boxes = walk.boxes
        fragments = walk.fragments
        loaded = walk.loaded
    }

    /// Returns the `mdat` box that contains the whole range; nil if no single box does.
    func mediaData(holding range: Range<Int>) -> Box? {
        // Binary search for the last box that begins at or before the range.
        var low = 0
        var high = boxes.count
        while low < high {
            let middle = (low + high) / 2
            if boxes[middle].range.lowerBound <= range.lowerBound {
                low = middle + 1
            } else {
                high = middle
            }
        }
        guard low > 0 else { return nil }
        let box = boxes[low - 1]
        let isWithin = box.payload.lowerBound <= range.lowerBound && range.upperBound <= box.range.upperBound
        guard box.type == "mdat", isWithin else { return nil }
        return box
    }
}

/// Parses a segment's top level, one box per step.
struct SegmentWalk {
    private var window: SourceWindow
    private var position = 0
    private var samples = 0
    private var fragmentBytes = 0
    private(set) var boxes: [Box] = []
    private(set) var fragments: [MovieFragment] = []
    private(set) var loaded: [FileBytes] = []
    init(_ source: ByteSource) { window = SourceWindow(source) }
    /// Bytes of the longest box header: a 64-bit size and an extended type.
    private static let longestHeader = 32

    /// Reads the next box; returns false at the end.
    mutating func step() throws(SegmentFormatError) -> Bool {
        let count = window.source.count
        guard position < count else { return false }
        let head = try window.bytes(position..<min(count, position + Self.longestHeader))
        retain(head)
        var reader = BoxReader(head, in: nil, position..<count)
        guard let box = try reader.box() else { return false }
        guard boxes.count < SegmentFormatLimits.topLevelBoxes else {
            throw SegmentFormatError(.overLimit, of: box.type, at: position, "there are too many boxes before it")
        }
        boxes.append(box)
        position = box.range.upperBound
        if box.type == "moof" {
            try readFragment(box)
        }
        return true
    }

    private mutating func readFragment(_ box: Box) throws(SegmentFormatError) {
        fragmentBytes += box.range.count
        guard fragmentBytes <= SegmentFormatLimits.sectionBytes, fragments.count < SegmentFormatLimits.fragments else {
            throw box.error(.overLimit, "the segment has too much of them")
        }
        let bytes = try window.bytes(box.range)
        retain(bytes)
        let fragment = try MovieFragment(bytes, box)
        for track in fragment.tracks {
            samples += track.runs.reduce(0) { $0 + $1.count }
        }
        guard samples <= SegmentFormatLimits.samplesPerSegment else {
            throw box.error(.overLimit, "there are too many samples")
        }
        fragments.append(fragment)
    }

    private mutating func retain(_ bytes: FileBytes) {
        if let last = loaded.last, last.range == bytes.range {
            return
        }
        // A longer read from the same offset replaces a shorter one.
        if let last = loaded.last, last.origin == bytes.origin {
            loaded.removeLast()
        }
        guard loaded.count < SegmentFormatLimits.fragments else { return }
        loaded.append(bytes)
    }
}
