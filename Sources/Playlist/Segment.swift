/// One media segment: a view of its playlist, cheap to make and to copy.
public struct Segment: Sendable {
    /// What is kept of a segment; lines are indices, -1 for none.
    struct Record: Sendable {
        let infLine: Int32
        let uriLine: Int32
        let rangeLine: Int32
        let dateLine: Int32
        let keySet: Int32
        let map: Int32
        let bitRate: Int32
        let isDiscontinuity: Bool
        let isGap: Bool
        let duration: Double
        let byteRange: SubRange?
    }

    let storage: MediaPlaylist.Storage
    /// The place among the playlist's segments, from 0.
    public let index: Int

    var record: Record { storage.segments[index] }

    /// EXT-X-MEDIA-SEQUENCE plus the place in the playlist (RFC 8216 §3).
    public var mediaSequenceNumber: Int { storage.header.firstSequenceNumber + index }

    /// The URI as written, without blanks at its ends.
    public var uri: String { storage.text.string(Int(record.uriLine)) }

    /// EXTINF's duration in seconds, from 0 to 1e9.
    public var duration: Double { record.duration }

    /// EXTINF's duration as written.
    public var durationText: String { storage.text.bytes.text(inf.duration) }

    /// EXTINF's title, often empty.
    public var title: String { storage.text.bytes.text(inf.title) }

    /// EXT-X-BYTERANGE with its offset resolved; nil for the whole resource.
    public var byteRange: SubRange? { record.byteRange }

    /// The keys in force, one a KEYFORMAT; empty for a clear segment.
    public var keys: [Key] { storage.keys(inSet: record.keySet) }

    /// The initialization section in force.
    public var map: Map? { storage.map(Int(record.map)) }

    /// Whether EXT-X-DISCONTINUITY stands before it.
    public var isDiscontinuity: Bool { record.isDiscontinuity }

    /// Whether EXT-X-GAP marks it as absent: it must not be fetched.
    public var isGap: Bool { record.isGap }

    /// EXT-X-PROGRAM-DATE-TIME before it, as written.
    public var programDateTime: String? { record.dateLine < 0 ? nil : storage.text.string(Int(record.dateLine)) }

    /// EXT-X-BITRATE in force, in bits a second (the tag has kilobits), from 10 % below to 10 % above what the segment
    /// has; nil where there is none, and for a byte range, which it does not hold for (rfc8216bis §4.4.4.8).
    public var bitRate: Int? { record.bitRate > 0 && byteRange == nil ? Int(record.bitRate) * 1000 : nil }

    /// The number of the URI's line, from 1.
    public var line: Int { Int(record.uriLine) + 1 }

    private var inf: Inf { Inf(storage.text.bytes, storage.text.value(Int(record.infLine))) }
}

/// A media playlist's segments in order.
public struct Segments: RandomAccessCollection, Sendable {
    let storage: MediaPlaylist.Storage

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of segments.
    public var endIndex: Int { storage.segments.count }
    /// A segment by its place in the playlist.
    public subscript(position: Int) -> Segment {
        precondition(indices.contains(position), "a segment's place is out of range")
        return Segment(storage: storage, index: position)
    }
}
