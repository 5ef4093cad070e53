/// One media segment: a view of its playlist, cheap to create and copy.
public struct Segment: Sendable {
    /// The parsed values of a segment. Lines are indices; -1 if absent.
    struct Record: Sendable {
        let infLine, uriLine, rangeLine, dateLine, keySet, map, bitRate: Int32
        let isDiscontinuity, isGap: Bool
        let duration: MediaDuration
        let byteRange: SubRange?
    }

    let storage: MediaPlaylist.Storage
    /// Index among the playlist's segments, from 0.
    public let index: Int
    var record: Record { storage.segments[index] }
    /// EXT-X-MEDIA-SEQUENCE plus the index in the playlist (RFC 8216 §3).
    public var mediaSequenceNumber: SequenceNumber { storage.header.firstSequenceNumber + index }
    /// URI as written, without blanks at its ends.
    public var uri: String { storage.text.string(Int(record.uriLine)) }
    /// The bytes of `uri`, without a copy.
    var uriBytes: ArraySlice<UInt8> { storage.text.bytes[storage.text.value(Int(record.uriLine))] }
    /// EXTINF's duration, at most 1e9 seconds.
    public var duration: MediaDuration { record.duration }
    /// EXTINF's duration as written.
    public var durationText: String { storage.text.bytes.text(inf.duration) }
    /// EXTINF's title, often empty.
    public var title: String { storage.text.bytes.text(inf.title) }
    /// EXT-X-BYTERANGE with its offset resolved; nil for the whole resource.
    public var byteRange: SubRange? { record.byteRange }
    /// The keys in force, one per KEYFORMAT; empty if the segment is not encrypted.
    public var keys: [Key] { storage.keys(inSet: record.keySet) }
    /// The initialization section in force.
    public var map: Map? { storage.map(Int(record.map)) }
    /// True if EXT-X-DISCONTINUITY precedes the segment.
    public var isDiscontinuity: Bool { record.isDiscontinuity }
    /// True if EXT-X-GAP marks the segment as missing. It must not be fetched.
    public var isGap: Bool { record.isGap }
    /// The preceding EXT-X-PROGRAM-DATE-TIME, as written.
    public var programDateTime: String? {
        guard record.dateLine >= 0 else { return nil }
        return storage.text.string(Int(record.dateLine))
    }
    /// EXT-X-BITRATE in force, within 10 % of the segment's bit rate. Nil
    /// without the tag, and for a byte range, to which it does not apply (rfc8216bis §4.4.4.8).
    public var bitRate: BitRate? {
        guard record.bitRate > 0, byteRange == nil else { return nil }
        return BitRate(kilobits: record.bitRate)
    }
    /// Line number of the URI, from 1.
    public var line: Int { Int(record.uriLine) + 1 }
    private var inf: Inf { Inf(storage.text.bytes, storage.text.value(Int(record.infLine))) }
}

/// The segments of a media playlist, in order.
public struct Segments: RandomAccessCollection, Sendable {
    let storage: MediaPlaylist.Storage
    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of segments.
    public var endIndex: Int { storage.segments.count }
    /// Returns the segment at an index in the playlist.
    public subscript(position: Int) -> Segment {
        precondition(indices.contains(position), "segment index out of range")
        return Segment(storage: storage, index: position)
    }
}

/// One EXT-X-MAP (RFC 8216 §4.3.2.5): the media initialization section of the following segments.
public struct Map: Sendable {
    /// Byte ranges of one line's values, and the keys in force there.
    struct Record: Sendable {
        let line: Int32
        let uri: TextSpan
        let byteRange: SubRange?
        var keySet, index: Int32
    }

    let storage: MediaPlaylist.Storage
    let record: Record
    /// URI as written.
    public var uri: String { storage.text.bytes.text(record.uri.range) }
    /// BYTERANGE; nil for the whole resource.
    public var byteRange: SubRange? { record.byteRange }
    /// The keys in force at the tag, which encrypt the section; empty if it is not encrypted.
    public var keys: [Key] { storage.keys(inSet: record.keySet) }
    /// Index among the playlist's distinct (URI, BYTERANGE) pairs (`MediaPlaylist.maps`), from 0.
    public var index: Int { Int(record.index) }
    /// Line number, from 1.
    public var line: Int { Int(record.line) + 1 }

    /// Parses a line. The playlist sets the key set and the index.
    static func parse(_ text: PlaylistText, _ line: Int) throws(PlaylistError) -> Record {
        let attributes = text.attributes(line)
        guard let uri = attributes.find("URI")?.content, !uri.isEmpty else {
            throw text.error(.missingAttribute, line: line, "the initialization section has no URI")
        }
        let byteRange = try attributes.subRange("BYTERANGE")
        return Record(line: Int32(line), uri: TextSpan(uri), byteRange: byteRange, keySet: -1, index: -1)
    }
}

/// The parts of an EXTINF value, `duration,title` (RFC 8216 §4.3.2.1).
struct Inf {
    let duration: Range<Int>
    /// Range after the comma, as written; empty without a comma.
    let title: Range<Int>

    init(_ bytes: [UInt8], _ value: Range<Int>) {
        let comma = bytes.firstIndex(of: UInt8(ascii: ","), in: value) ?? value.upperBound
        duration = bytes.trimmed(value.lowerBound..<comma)
        title = min(comma + 1, value.upperBound)..<value.upperBound
    }

    /// Maximum duration in seconds, about 31 years.
    static let longest = 1e9

    /// Returns the duration of the EXTINF on a line.
    static func duration(_ text: PlaylistText, _ line: Int) throws(PlaylistError) -> MediaDuration {
        let inf = Inf(text.bytes, text.value(line))
        guard let seconds = text.bytes.decimalFloat(inf.duration), seconds <= longest else {
            throw text.error(.badValue, line: line, "the segment's duration is not a decimal number of seconds")
        }
        return MediaDuration(seconds: seconds)
    }
}
