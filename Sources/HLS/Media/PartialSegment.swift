/// One EXT-X-PART (rfc8216bis §4.4.4.9): a part of a media segment, published before the segment is complete.
public struct PartialSegment: Sendable {
    struct Record: Sendable {
        let line: Int32
        let uri: TextSpan
        let segment, partIndex, keySet, map: Int32
        let isIndependent, isGap: Bool
        let duration: MediaDuration
        let byteRange: SubRange?
    }

    let storage: MediaPlaylist.Storage
    /// Index among all parts of the playlist, from 0.
    public let index: Int
    var record: Record { storage.lowLatency.parts[index] }
    /// URI as written.
    public var uri: String { storage.text.bytes.text(record.uri.range) }
    /// DURATION.
    public var duration: MediaDuration { record.duration }
    /// BYTERANGE with its offset resolved; nil for the whole resource.
    public var byteRange: SubRange? { record.byteRange }
    /// INDEPENDENT=YES: the part contains an independent frame.
    public var isIndependent: Bool { record.isIndependent }
    /// GAP=YES: the part is missing at the origin and must not be fetched.
    public var isGap: Bool { record.isGap }
    /// Media sequence number of the part's segment, which may not be listed yet.
    public var mediaSequenceNumber: SequenceNumber { storage.header.firstSequenceNumber + Int(record.segment) }
    /// Index among the listed parts of its segment, from 0: the Part Index of rfc8216bis §4.4.4.9.
    public var partIndex: Int { Int(record.partIndex) }
    /// The keys in force, one per KEYFORMAT.
    public var keys: [Key] { storage.keys(inSet: record.keySet) }
    /// The initialization section in force.
    public var map: Map? { storage.map(Int(record.map)) }
    /// Line number, from 1.
    public var line: Int { Int(record.line) + 1 }

    /// Parses a line. A BYTERANGE without offset begins at the end of that of `previous`.
    static func parse(
        _ text: PlaylistText, _ line: Int, previous: Record?, at position: LowLatency.Position
    ) throws(PlaylistError) -> Record {
        let attributes = text.attributes(line)
        guard let uri = attributes.find("URI")?.content, !uri.isEmpty else {
            throw text.error(.missingAttribute, line: line, "the part has no URI")
        }
        guard let duration = try attributes.duration("DURATION"), duration.seconds <= Inf.longest else {
            throw text.error(.missingAttribute, line: line, "the part has no DURATION")
        }
        let byteRange = try attributes.find("BYTERANGE").map { attribute throws(PlaylistError) in
            try ByteRangeTag.resolve(text, line, value: attribute.content, previous: previous?.byteRange)
        }
        var partIndex: Int32 = 0
        if let previous, previous.segment == position.segment {
            partIndex = previous.partIndex + 1
        }
        return Record(
            line: Int32(line), uri: TextSpan(uri), segment: position.segment, partIndex: partIndex,
            keySet: position.keySet, map: position.map, isIndependent: attributes.flag("INDEPENDENT"),
            isGap: attributes.flag("GAP"), duration: duration, byteRange: byteRange)
    }
}
