/// A multivariant playlist (RFC 8216 §4.3.4): the variants of a presentation and the renditions that they refer to.
public struct MultivariantPlaylist: Sendable {
    /// The text that was read.
    public let text: PlaylistText
    /// EXT-X-STREAM-INF, in order; several may name the same rendition.
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
    /// EXT-X-CONTENT-STEERING; nil without one. The first, where there are several.
    public private(set) var contentSteering: ContentSteering?
    /// EXT-X-START; nil without one.
    public private(set) var start: Start?
    /// Whether EXT-X-INDEPENDENT-SEGMENTS is there, for all of its media playlists (RFC 8216 §4.3.5.1).
    public private(set) var hasIndependentSegments = false
    /// EXT-X-VERSION, 1 where it is absent; may be higher than any that is known here.
    public private(set) var version = 1
    /// The variables that EXT-X-DEFINE gives a value to, by name: what media playlists may import.
    public let variables: [String: String]
    /// The distinct URIs of media playlists, as written, in order of first appearance; `renditionIndex` points here.
    public var renditionURIs: [String] { catalogue.uris }

    /// Each line that a view may change, in the order of the text, with what it stands for.
    var entries: [PlacedEntry] = []
    private var catalogue = Catalogue()

    /// Every URI of what a place in `renditionURIs` leads to, its own first; several only in a `folded` playlist.
    public func uris(ofRendition place: Int) -> [String] { catalogue.mirrors[place] ?? [renditionURIs[place]] }

    /// Puts the first URI of each set in the place of all of them.
    mutating func fold(_ sets: [[Int]]) {
        let all = sets.map { set in set.map { renditionURIs[$0] } }
        catalogue = Catalogue()
        for (place, uris) in all.enumerated() {
            _ = catalogue.place(uris[0])
            if uris.count > 1 { catalogue.mirrors[place] = uris }
        }
    }

    /// The item that a line belongs to, by its place in its array.
    enum Entry: Sendable {
        case variant(Int)
        case variantURI(Int)
        case iFrameVariant(Int)
        case media(Int)
        case sessionKey(Int)
        case sessionData(Int)
        case imageVariant(Int)
        case steering
        case start
        /// Of a mirror whose first one stands for it: in no view.
        case mirror
    }

    /// An entry and the index of its line, from 0.
    struct PlacedEntry: Sendable {
        let line: Int
        let entry: Entry
    }

    /// The distinct URIs and their places.
    private struct Catalogue: Sendable {
        private(set) var uris: [String] = []
        /// All URIs of the places that have several.
        var mirrors: [Int: [String]] = [:]
        private var places: [String: Int] = [:]

        mutating func reserve(_ count: Int) {
            uris.reserveCapacity(count)
            places.reserveCapacity(count)
        }

        mutating func place(_ uri: String) -> Int {
            if let known = places[uri] { return known }
            places[uri] = uris.count
            uris.append(uri)
            return uris.count - 1
        }
    }

    /// Reads a text that is known to be a multivariant playlist.
    init(
        _ text: PlaylistText, variables: [String: String] = [:], _ limits: PlaylistLimits
    ) throws(PlaylistError) {
        self.text = text
        self.variables = variables
        // Most lines name a variant, in pairs.
        let expected = min(text.lines.count / 2, limits.variants)
        variants.reserveCapacity(expected)
        entries.reserveCapacity(2 * expected)
        catalogue.reserve(expected)
        var streamInf: Int?
        for line in text.lines.indices {
            switch text.lines[line].kind {
            case .tag(.streamInf):
                if let streamInf { throw Self.missingURI(text, streamInf) }
                streamInf = line
            case .tag(let tag): try read(tag, line, limits)
            case .uri:
                guard let tagLine = streamInf else {
                    throw text.error(.unannouncedURI, line, "a URI without an EXT-X-STREAM-INF before it")
                }
                try addVariant(tagLine, line, limits)
                streamInf = nil
            case .blank, .comment: break
            }
        }
        if let streamInf { throw Self.missingURI(text, streamInf) }
        // A variant is noted at its URI, and other tags may stand before that.
        entries.sort { $0.line < $1.line }
    }

    private static func missingURI(_ text: PlaylistText, _ line: Int) -> PlaylistError {
        text.error(.missingURI, line, "no URI follows the EXT-X-STREAM-INF")
    }

    private mutating func addVariant(
        _ line: Int, _ uriLine: Int, _ limits: PlaylistLimits
    ) throws(PlaylistError) {
        if variants.count == limits.variants {
            throw text.error(.overLimit, line, "more than \(limits.variants) variants")
        }
        entries.append(PlacedEntry(line: line, entry: .variant(variants.count)))
        entries.append(PlacedEntry(line: uriLine, entry: .variantURI(variants.count)))
        let uri = text.string(uriLine)
        let rendition = catalogue.place(uri)
        variants.append(
            try Variant(
                text, line: line, uriLine: uriLine, uri: uri, index: variants.count, renditionIndex: rendition, limits))
    }

    private mutating func read(_ tag: Tag, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        switch tag {
        case .media:
            entries.append(PlacedEntry(line: line, entry: .media(media.count)))
            media.append(try Media(text, line, index: media.count, limits) { catalogue.place($0) })
        case .iFrameStreamInf:
            entries.append(PlacedEntry(line: line, entry: .iFrameVariant(iFrameVariants.count)))
            iFrameVariants.append(
                try IFrameVariant(text, line, index: iFrameVariants.count, limits) { catalogue.place($0) })
        case .sessionKey:
            entries.append(PlacedEntry(line: line, entry: .sessionKey(sessionKeys.count)))
            var record = try Key.parse(text, line, limits)
            record.index = Int32(sessionKeys.count)
            sessionKeys.append(Key(text: text, record: record))
        case .sessionData:
            entries.append(PlacedEntry(line: line, entry: .sessionData(sessionData.count)))
            sessionData.append(try SessionData(text, line, index: sessionData.count, limits))
        default: try readOther(tag, line, limits)
        }
        if entries.count > limits.renditions + 2 * variants.count {
            throw text.error(.overLimit, line, "more than \(limits.renditions) renditions and session tags")
        }
    }

    private mutating func readOther(_ tag: Tag, _ line: Int, _ limits: PlaylistLimits) throws(PlaylistError) {
        switch tag {
        case .imageStreamInf:
            guard let image = try ImageVariant(text, line, index: imageVariants.count, limits) else { return }
            entries.append(PlacedEntry(line: line, entry: .imageVariant(imageVariants.count)))
            imageVariants.append(image)
        case .contentSteering:
            entries.append(PlacedEntry(line: line, entry: .steering))
            let steering = try ContentSteering(text, line, limits)
            contentSteering = contentSteering ?? steering
        case .start:
            entries.append(PlacedEntry(line: line, entry: .start))
            start = try Start(text, line, limits) ?? start
        case .independentSegments: hasIndependentSegments = true
        case .version: version = text.bytes.decimalInteger(text.value(line)) ?? version
        default: break
        }
    }
}
