/// A position in a playlist by its distance from an end, as TIME-OFFSET has it.
public enum TimeOffset: Hashable, Sendable {
    case afterStart(MediaDuration)
    /// A negative TIME-OFFSET: the distance to the end of the last segment.
    case beforeEnd(MediaDuration)

    /// The distance from the end that it counts from.
    public var distance: MediaDuration {
        switch self {
        case .afterStart(let distance), .beforeEnd(let distance): distance
        }
    }

    /// True if it counts from the end.
    public var isBeforeEnd: Bool { self == .beforeEnd(distance) }
}

/// EXT-X-START (RFC 8216 §4.3.5.2): the preferred start of playback.
public struct Start: Hashable, Sendable {
    /// TIME-OFFSET.
    public let timeOffset: TimeOffset
    /// Line number, from 1.
    public let line: Int

    /// Parses a line; nil without an offset. Players then start at their default position.
    init?(_ text: PlaylistText, _ line: Int) throws(PlaylistError) {
        let attributes = text.attributes(line)
        guard let offset = attributes.timeOffset("TIME-OFFSET") else { return nil }
        timeOffset = offset
        self.line = line + 1
    }

    /// Returns the value with TIME-OFFSET first, as libavformat requires; nil if it is first already.
    static func reordered(_ attributes: AttributeList) -> String? {
        let list = attributes.attributes
        guard let offsetIndex = list.firstIndex(where: { attributes.bytes.matches($0.name, "TIME-OFFSET") }),
            offsetIndex > 0
        else {
            return nil
        }
        let order = [offsetIndex] + list.indices.filter { $0 != offsetIndex }
        return order.map { attributes.bytes.text(list[$0].name.lowerBound..<list[$0].value.upperBound) }
            .joined(separator: ",")
    }
}

extension [SessionData] {
    /// The presentation's title: the VALUE of a line whose DATA-ID ends with `.title`, such as `com.example.movie.title`
    /// (RFC 8216 §4.3.4.4); nil without one. A line without LANGUAGE is preferred, then an earlier one.
    public var title: String? {
        let titles = compactMap { line -> (value: String, language: String?)? in
            guard line.dataID.split(separator: ".").count > 1, line.dataID.lowercased().hasSuffix(".title") else {
                return nil
            }
            let words = (line.value ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
            guard !words.isEmpty else { return nil }
            return (String(words.prefix(200)), line.language)
        }
        return (titles.first { $0.language == nil } ?? titles.first)?.value
    }
}

/// One EXT-X-SESSION-DATA (RFC 8216 §4.3.4.4).
public struct SessionData: Sendable {
    /// Index among the playlist's lines of this tag, from 0.
    public let index: Int
    /// DATA-ID; empty if absent.
    public let dataID: String
    /// URI as written; nil if VALUE contains the data.
    public let uri: String?
    /// All attributes.
    public let attributes: AttributeList
    /// Line number, from 1.
    public let line: Int
    /// VALUE; nil if URI refers to the data.
    public var value: String? { attributes["VALUE"] }
    /// LANGUAGE of VALUE, an RFC 5646 tag.
    public var language: String? { attributes["LANGUAGE"] }
    /// FORMAT of the resource at URI (rfc8216bis §4.4.6.4): JSON, the default, or RAW.
    public var format: String { attributes["FORMAT"] ?? "JSON" }

    init(_ text: PlaylistText, _ line: Int, index: Int) throws(PlaylistError) {
        attributes = text.attributes(line)
        self.index = index
        self.line = line + 1
        dataID = attributes["DATA-ID"] ?? ""
        uri = attributes["URI"]
    }
}

/// EXT-X-CONTENT-STEERING (rfc8216bis §4.4.6.6): the server that selects the pathway.
public struct ContentSteering: Sendable {
    /// SERVER-URI: URI of the steering manifest, as written.
    public let serverURI: String
    /// PATHWAY-ID: the initial pathway; nil for the pathway of the first variant.
    public let pathwayID: String?
    /// Line number, from 1.
    public let line: Int

    /// Parses a line; nil without SERVER-URI.
    init?(_ text: PlaylistText, _ line: Int) throws(PlaylistError) {
        let attributes = text.attributes(line)
        guard let uri = attributes["SERVER-URI"], !uri.isEmpty else { return nil }
        serverURI = uri
        pathwayID = attributes["PATHWAY-ID"]
        self.line = line + 1
    }
}
