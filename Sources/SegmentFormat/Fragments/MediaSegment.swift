/// A fragmented MPEG-4 Media Segment (RFC 8216 §3.3), read as far as its boxes go: no byte of `mdat` is looked at.
public struct MediaSegment: Sendable {
    /// The length of the file in bytes.
    public let count: Int
    /// All boxes of the top level, in order and without a gap.
    public let boxes: [Box]
    /// The movie fragments in order; there is one at least.
    public let fragments: [MovieFragment]
    /// What was read of the file and may be sent from memory, in order.
    let loaded: [FileBytes]

    /// Reads the boxes of a segment.
    public init(_ source: ByteSource) throws(SegmentFormatError) {
        var walk = SegmentWalk(source)
        while try walk.step() {}
        guard !walk.fragments.isEmpty else {
            throw SegmentFormatError(.missingBox, in: "moof", at: nil, "there is no movie fragment in the segment")
        }
        (count, boxes, fragments, loaded) = (source.count, walk.boxes, walk.fragments, walk.loaded)
    }

    /// The `mdat` that holds a range of the file; nil where none holds all of it.
    func mediaData(holding range: Range<Int>) -> Box? {
        // The last box that begins before the range: boxes lie in order and without a gap.
        var (low, high) = (0, boxes.count)
        while low < high {
            let middle = (low + high) / 2
            if boxes[middle].range.lowerBound <= range.lowerBound { low = middle + 1 } else { high = middle }
        }
        guard low > 0 else { return nil }
        let box = boxes[low - 1]
        let isWithin = box.payload.lowerBound <= range.lowerBound && range.upperBound <= box.range.upperBound
        return box.type == "mdat" && isWithin ? box : nil
    }
}
