/// The walk over a segment's top level, a box at a time.
struct SegmentWalk {
    private var window: SourceWindow
    private var position = 0
    private var (samples, fragmentBytes) = (0, 0)
    private(set) var boxes: [Box] = []
    private(set) var fragments: [MovieFragment] = []
    private(set) var loaded: [FileBytes] = []

    /// Begins at the start of a file.
    init(_ source: ByteSource) {
        window = SourceWindow(source)
    }

    /// The longest header: a 64-bit size and an extended type.
    private static let longestHeader = 32

    /// Takes the next box; false at the end.
    mutating func step() throws(SegmentFormatError) -> Bool {
        let count = window.source.count
        guard position < count else { return false }
        let head = try window.bytes(position..<min(count, position + Self.longestHeader))
        keep(head)
        var reader = BoxReader(head, in: nil, position..<count)
        guard let box = try reader.box() else { return false }
        guard boxes.count < SegmentFormatLimits.topLevelBoxes else {
            throw SegmentFormatError(.overLimit, box.type, at: position, "there are too many boxes before it")
        }
        boxes.append(box)
        position = box.range.upperBound
        if box.type == "moof" { try take(box) }
        return true
    }

    private mutating func take(_ box: Box) throws(SegmentFormatError) {
        fragmentBytes += box.range.count
        guard fragmentBytes <= SegmentFormatLimits.sectionBytes, fragments.count < SegmentFormatLimits.fragments else {
            throw SegmentFormatError(.overLimit, box.type, at: box.range.lowerBound, "the segment has too much of them")
        }
        let bytes = try window.bytes(box.range)
        keep(bytes)
        let fragment = try MovieFragment(bytes, box)
        for track in fragment.tracks { samples += track.runs.reduce(0) { $0 + $1.count } }
        guard samples <= SegmentFormatLimits.samplesPerSegment else {
            throw SegmentFormatError(.overLimit, box.type, at: box.range.lowerBound, "there are too many samples")
        }
        fragments.append(fragment)
    }

    private mutating func keep(_ bytes: FileBytes) {
        if let last = loaded.last, last.range == bytes.range { return }
        // A longer reading from the same place replaces a shorter.
        if let last = loaded.last, last.origin == bytes.origin { loaded.removeLast() }
        guard loaded.count < SegmentFormatLimits.fragments else { return }
        loaded.append(bytes)
    }
}
