/// A multivariant playlist (RFC 8216 §4.3.4): the variants of a presentation and their renditions.
public struct MultivariantPlaylist: Equatable, Sendable {
    /// The parsed text.
    public let text: PlaylistText
    /// EXT-X-STREAM-INF, in order. Several may name the same rendition.
    public internal(set) var variants: [Variant] = []
    /// EXT-X-I-FRAME-STREAM-INF, in order.
    public internal(set) var iFrameVariants: [IFrameVariant] = []
    /// EXT-X-MEDIA, in order.
    public internal(set) var media: [Media] = []
    /// EXT-X-SESSION-KEY, in order.
    public private(set) var sessionKeys: [Key] = []
    /// EXT-X-SESSION-DATA, in order.
    public private(set) var sessionData: [SessionData] = []
    /// EXT-X-IMAGE-STREAM-INF, in order.
    public private(set) var imageVariants: [ImageVariant] = []
    /// EXT-X-CONTENT-STEERING, the first one if repeated; nil if absent.
    public private(set) var contentSteering: ContentSteering?
    /// EXT-X-START; nil if absent.
    public private(set) var start: Start?
    /// True if EXT-X-INDEPENDENT-SEGMENTS is present. It applies to all media playlists (RFC 8216 §4.3.5.1).
    public private(set) var hasIndependentSegments = false
    /// EXT-X-VERSION, 1 if absent. May be higher than any known version.
    public private(set) var version = 1
    /// Variables defined by EXT-X-DEFINE, by name, which media playlists may import.
    public let variables: [String: String]
    /// Distinct URIs of media playlists as written, in order of first appearance. `renditionIndex` is an index into this array.
    public var renditionURIs: [String] { uriTable.uris }
    /// Each line that a view may change, in text order, with the item that it belongs to.
    var entries: [LineEntry] = []
    private var uriTable = URITable()
    /// Returns the URIs of a rendition, that at its index in `renditionURIs` first; several only in a `folded` playlist.
    public func uris(ofRendition index: Int) -> [String] { uriTable.mirrors[index] ?? [renditionURIs[index]] }

    /// Replaces each set of indices in `renditionURIs` by its first URI.
    mutating func fold(_ sets: [[Int]]) {
        let earlier = renditionURIs
        uriTable = URITable()
        for (index, set) in sets.enumerated() {
            let uris = set.map { earlier[$0] }
            _ = uriTable.insert(uris[0])
            if uris.count > 1 {
                uriTable.mirrors[index] = uris
            }
        }
    }

    /// True if another playlist has exactly the same text, with variables replaced.
    public func hasSameText(as other: MultivariantPlaylist) -> Bool { text.bytes == other.text.bytes }

    /// True if both have the same text, with variables replaced, and the same mirrors.
    public static func == (left: Self, right: Self) -> Bool {
        left.hasSameText(as: right) && left.renditionURIs == right.renditionURIs
    }

    /// The item that a line belongs to, by its index in its array.
    enum Entry: Sendable {
        case variant(Int), variantURI(Int), iFrameVariant(Int), media(Int)
        case sessionKey(Int), sessionData(Int), imageVariant(Int), steering, start
        /// A line of a folded mirror: omitted from every view.
        case mirror
    }

    struct LineEntry: Sendable {
        let line: Int
        let entry: Entry
    }

    /// Distinct URIs and their indices.
    private struct URITable: Sendable {
        private(set) var uris: [String] = []
        /// All URIs of each index that has several.
        var mirrors: [Int: [String]] = [:]
        private var indices: [String: Int] = [:]

        mutating func reserve(_ count: Int) {
            uris.reserveCapacity(count)
            indices.reserveCapacity(count)
        }

        mutating func insert(_ uri: String) -> Int {
            if let known = indices[uri] {
                return known
            }
            indices[uri] = uris.count
            uris.append(uri)
            return uris.count - 1
        }
    }

    init(_ text: PlaylistText, variables: [String: String] = [:]) throws(PlaylistError) {
        self.text = text
        self.variables = variables

        // Most lines are pairs of a tag and a URI.
        let expected = min(text.lines.count / 2, text.limits.variants)
        variants.reserveCapacity(expected)
        entries.reserveCapacity(2 * expected)
        uriTable.reserve(expected)

        var streamInf: Int?
        for line in text.lines.indices {
            switch text.lines[line].kind {
            case .tag(.streamInf):
                if let streamInf {
                    throw Self.missingURI(text, streamInf)
                }
                streamInf = line
            case .tag(let tag): try read(tag, line)
            case .uri:
                guard let tagLine = streamInf else {
                    throw text.error(.unannouncedURI, line: line, "a URI without an EXT-X-STREAM-INF before it")
                }
                try addVariant(tagLine, line)
                streamInf = nil
            case .blank, .comment: break
            }
        }

        if let streamInf {
            throw Self.missingURI(text, streamInf)
        }
        // A variant is appended at its URI line, and other tags may precede that line.
        entries.sort { $0.line < $1.line }
    }

    private static func missingURI(_ text: PlaylistText, _ line: Int) -> PlaylistError {
        text.error(.missingURI, line: line, "no URI follows the EXT-X-STREAM-INF")
    }

    private mutating func addVariant(_ line: Int, _ uriLine: Int) throws(PlaylistError) {
        if variants.count == text.limits.variants {
            throw text.error(.overLimit, line: line, "more than \(text.limits.variants) variants")
        }
        entries.append(LineEntry(line: line, entry: .variant(variants.count)))
        entries.append(LineEntry(line: uriLine, entry: .variantURI(variants.count)))
        let uri = text.string(uriLine)
        let rendition = uriTable.insert(uri)
        variants.append(
            try Variant(text, line: line, uriLine: uriLine, uri: uri, index: variants.count, renditionIndex: rendition))
    }

    private mutating func read(_ tag: Tag, _ line: Int) throws(PlaylistError) {
        switch tag {
        case .media:
            entries.append(LineEntry(line: line, entry: .media(media.count)))
            media.append(try Media(text, line, index: media.count) { uriTable.insert($0) })
        case .iFrameStreamInf:
            entries.append(LineEntry(line: line, entry: .iFrameVariant(iFrameVariants.count)))
            iFrameVariants.append(try IFrameVariant(text, line, index: iFrameVariants.count) { uriTable.insert($0) })
        case .sessionKey:
            entries.append(LineEntry(line: line, entry: .sessionKey(sessionKeys.count)))
            var record = try Key.parse(text, line)
            record.index = Int32(sessionKeys.count)
            sessionKeys.append(Key(text: text, record: record))
        case .sessionData:
            entries.append(LineEntry(line: line, entry: .sessionData(sessionData.count)))
            sessionData.append(try SessionData(text, line, index: sessionData.count))
        default: try readOther(tag, line)
        }
        if entries.count > text.limits.renditions + 2 * variants.count {
            throw text.error(.overLimit, line: line, "more than \(text.limits.renditions) renditions and session tags")
        }
    }

    private mutating func readOther(_ tag: Tag, _ line: Int) throws(PlaylistError) {
        switch tag {
        case .imageStreamInf:
            guard let image = try ImageVariant(text, line, index: imageVariants.count) else { return }
            entries.append(LineEntry(line: line, entry: .imageVariant(imageVariants.count)))
            imageVariants.append(image)
        case .contentSteering:
            entries.append(LineEntry(line: line, entry: .steering))
            let steering = try ContentSteering(text, line)
            contentSteering = contentSteering ?? steering
        case .start:
            entries.append(LineEntry(line: line, entry: .start))
            start = try Start(text, line) ?? start
        case .independentSegments: hasIndependentSegments = true
        case .version: version = text.bytes.decimalInteger(text.value(line)) ?? version
        default: break
        }
    }
}
