/// One EXT-X-PART (rfc8216bis §4.4.4.9): a part of a media segment, published before the segment is whole.
public struct PartialSegment: Sendable {
    /// What is kept of a line.
    struct Record: Sendable {
        let line: Int32
        let uri: TextSpan
        let segment: Int32
        let place: Int32
        let keySet: Int32
        let map: Int32
        let isIndependent: Bool
        let isGap: Bool
        let duration: Double
        let byteRange: SubRange?
    }

    let storage: MediaPlaylist.Storage
    /// The place among all parts of the playlist, from 0.
    public let index: Int

    var record: Record { storage.lowLatency.parts[index] }

    /// URI as written.
    public var uri: String { storage.text.bytes.text(record.uri.range) }

    /// DURATION in seconds.
    public var duration: Double { record.duration }

    /// BYTERANGE with its offset resolved; nil for the whole resource.
    public var byteRange: SubRange? { record.byteRange }

    /// INDEPENDENT=YES: it holds at least one independent frame.
    public var isIndependent: Bool { record.isIndependent }

    /// GAP=YES: it is absent at the origin and must not be fetched.
    public var isGap: Bool { record.isGap }

    /// The media sequence number of the segment that it is a part of, which may not be listed yet.
    public var mediaSequenceNumber: Int { storage.header.firstSequenceNumber + Int(record.segment) }

    /// The place among the parts of its segment that are listed, from 0: the Part Index of rfc8216bis §4.4.4.9.
    public var partIndex: Int { Int(record.place) }

    /// The place of its segment in `MediaPlaylist.segments`; equal to their count where that segment is not listed yet.
    public var segmentIndex: Int { Int(record.segment) }

    /// The keys in force, one a KEYFORMAT.
    public var keys: [Key] { storage.keys(inSet: record.keySet) }

    /// The initialization section in force.
    public var map: Map? { storage.map(Int(record.map)) }

    /// The number of the line, from 1.
    public var line: Int { Int(record.line) + 1 }
}

extension PartialSegment {
    /// Reads the attributes of a line; a BYTERANGE without an offset goes on where the one of `previous` ended, which
    /// must be of the same resource.
    static func parse(
        _ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits, previous: Record?, at position: LowLatency.Position
    ) throws(PlaylistError) -> Record {
        let attributes = try text.attributes(line, limits)
        guard let uri = attributes.find("URI")?.content, !uri.isEmpty else {
            throw text.error(.missingAttribute, line, "the part has no URI")
        }
        guard let duration = try attributes.decimalFloat("DURATION"), duration <= Inf.longest else {
            throw text.error(.missingAttribute, line, "the part has no DURATION")
        }
        var before: (uri: Range<Int>, byteRange: SubRange)?
        if let previous, let range = previous.byteRange { before = (previous.uri.range, range) }
        let byteRange = try attributes.find("BYTERANGE").map { attribute throws(PlaylistError) in
            try ByteRangeTag.resolve(text, line, value: attribute.content, previous: before, uri: uri)
        }
        let place = previous.map { $0.segment == position.segment ? $0.place + 1 : 0 } ?? 0
        return Record(
            line: Int32(line), uri: TextSpan(uri), segment: position.segment, place: place,
            keySet: position.keySet, map: position.map, isIndependent: attributes.flag("INDEPENDENT"),
            isGap: attributes.flag("GAP"), duration: duration, byteRange: byteRange)
    }
}
