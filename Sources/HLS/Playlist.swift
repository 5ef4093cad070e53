/// A parsed playlist of either kind (RFC 8216 §4).
public enum Playlist: Sendable {
    case multivariant(MultivariantPlaylist)
    case media(MediaPlaylist)

    /// Parses a response body, with any content encoding already removed. `variables` is sources for EXT-X-DEFINE
    /// outside of the text. All properties and views have variables replaced.
    ///
    /// Mends lines that cannot be read or that players read differently: `text.mends` has the defects. Throws if nothing
    /// is left to play.
    public static func parse(
        _ bytes: [UInt8], variables: VariableSources = .none, limits: PlaylistLimits = .standard
    ) throws(PlaylistError) -> Playlist {
        let source = try PlaylistText(bytes, limits: limits)
        let isMultivariant = try isMultivariant(source)
        let (expanded, values) = try VariableExpansion.expanded(source, variables, isMultivariant: isMultivariant)
        let text = try Mender.mended(expanded, isMultivariant: isMultivariant)
        if isMultivariant {
            return .multivariant(try MultivariantPlaylist(text, variables: values))
        }
        return .media(try MediaPlaylist(text))
    }

    /// The parsed text.
    public var text: PlaylistText {
        switch self {
        case .multivariant(let playlist): playlist.text
        case .media(let playlist): playlist.text
        }
    }

    /// Determines the kind of a text by its tags. EXTINF decides, as in hls.js; other tags of the wrong kind are omitted.
    static func isMultivariant(_ text: PlaylistText) throws(PlaylistError) -> Bool {
        var (variantLine, mediaLine, uriLine): (Int?, Int?, Int?)
        for (index, line) in text.lines.enumerated() {
            switch line.kind {
            case .tag(.streamInf), .tag(.media), .tag(.iFrameStreamInf): variantLine = variantLine ?? index
            case .tag(.inf): return false
            case .tag(let tag) where tag.marksMedia: mediaLine = mediaLine ?? index
            case .uri: uriLine = uriLine ?? index
            default: break
            }
        }
        if variantLine != nil {
            return true
        }
        if mediaLine != nil {
            return false
        }
        if let uriLine {
            throw text.error(.unannouncedURI, line: uriLine, "a URI without an EXTINF before it")
        }
        throw PlaylistError(.notAPlaylist, "the playlist names neither segments nor variants")
    }
}

/// Upper bounds on a playlist's size.
///
/// Exceeding one is `PlaylistError.Code.overLimit`.
public struct PlaylistLimits: Sendable {
    /// Size of the decoded text in bytes.
    public var bytes = 64 << 20
    /// Length of one line without its terminator, in bytes.
    public var lineBytes = 1 << 20
    /// Number of lines, including blank lines and comments. Bounds the memory for a text of newlines only.
    public var lines = 8_000_000
    /// Media segments of one media playlist: 24 hours of 0.1 s are 864,000.
    public var segments = 1_000_000
    /// EXT-X-STREAM-INF lines of one multivariant playlist.
    public var variants = 10_000
    /// All other lines of a multivariant playlist that name a resource: EXT-X-MEDIA, I-frame variants, session tags.
    public var renditions = 10_000
    /// Distinct sections, and parts, hints and reports, of a playlist that has not ended: each gets a name at each reload. Parts
    /// are for the last three target durations (rfc8216bis §6.2.2), which are some hundred.
    public var liveResources = 2_000
    /// Distinct keys of a playlist that has not ended: one for every four seconds of a day.
    public var liveKeys = 20_000
    /// Attributes of one line.
    public var attributes = 128
    /// KEYFORMATs in force at the same time.
    public var keyFormats = 16
    /// The documented limits.
    public static let standard = PlaylistLimits()
    /// Creates the standard limits.
    public init() {}
}
