/// One EXT-X-MAP (RFC 8216 §4.3.2.5): the media initialization section of the following segments.
public struct Map: Sendable {
    /// Byte ranges of one line's values, and the keys in force there.
    struct Record: Sendable {
        let line: Int32
        let uri: TextSpan
        let byteRange: SubRange?
        var keySet: Int32
        var index: Int32
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
}

extension Map {
    /// Parses a line. The playlist sets the key set and the index.
    static func parse(_ text: PlaylistText, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) -> Record {
        let attributes = try text.attributes(line, limits)
        guard let uri = attributes.find("URI")?.content, !uri.isEmpty else {
            throw text.error(.missingAttribute, line, "the initialization section has no URI")
        }
        let byteRange = try attributes.subRange("BYTERANGE")
        return Record(line: Int32(line), uri: TextSpan(uri), byteRange: byteRange, keySet: -1, index: -1)
    }
}
