/// A parsed playlist of either kind (RFC 8216 §4).
public enum Playlist: Sendable {
    case multivariant(MultivariantPlaylist)
    case media(MediaPlaylist)

    /// Parses a response body, with any content encoding already removed. `variables` is sources for EXT-X-DEFINE
    /// outside of the text. All properties and views have variables replaced.
    public static func parse(
        _ bytes: [UInt8], variables: VariableSources = .none, limits: PlaylistLimits = .standard
    ) throws(PlaylistError) -> Playlist {
        let source = try PlaylistText(bytes, limits: limits)
        let isMultivariant = try isMultivariant(source)
        let (text, values) = try VariableExpansion.expanded(source, variables, isMultivariant: isMultivariant)
        if isMultivariant { return .multivariant(try MultivariantPlaylist(text, variables: values)) }
        return .media(try MediaPlaylist(text))
    }

    /// The parsed text.
    public var text: PlaylistText {
        switch self {
        case .multivariant(let playlist): playlist.text
        case .media(let playlist): playlist.text
        }
    }

    /// Determines the kind of a text by its tags. EXTINF together with a tag that names variants or renditions is an
    /// error. Other tags of the wrong kind are accepted, as players do.
    private static func isMultivariant(_ text: PlaylistText) throws(PlaylistError) -> Bool {
        var (variantLine, infLine, mediaLine, uriLine): (Int?, Int?, Int?, Int?)
        for (index, line) in text.lines.enumerated() {
            switch line.kind {
            case .tag(.streamInf), .tag(.media), .tag(.iFrameStreamInf): variantLine = variantLine ?? index
            case .tag(.inf): infLine = infLine ?? index
            case .tag(.targetDuration), .tag(.mediaSequence), .tag(.endList), .tag(.playlistType):
                mediaLine = mediaLine ?? index
            case .uri: uriLine = uriLine ?? index
            default: break
            }
        }
        if let variantLine, let infLine {
            throw text.error(
                .mixedTags, max(variantLine, infLine), "the text has tags of both multivariant and media playlists")
        }
        if variantLine != nil { return true }
        if infLine != nil || mediaLine != nil { return false }
        if let uriLine { throw text.error(.unannouncedURI, uriLine, "a URI without an EXTINF before it") }
        throw PlaylistError(.notAPlaylist, "the playlist names neither segments nor variants")
    }
}

/// Upper bounds on a playlist's size.
///
/// Exceeding one is `PlaylistError.Code.overLimit`.
public struct PlaylistLimits: Sendable {
    /// Size of the decoded text in bytes.
    public var bytes = 8 << 20
    /// Length of one line without its terminator, in bytes; at most 65,535.
    public var lineBytes = 16 << 10
    /// Number of lines, including blank lines and comments. Bounds the memory for a text of newlines only.
    public var lines = 1_000_000
    /// Media segments of one media playlist.
    public var segments = 100_000
    /// EXT-X-STREAM-INF lines of one multivariant playlist.
    public var variants = 256
    /// All other lines of a multivariant playlist that name a resource: EXT-X-MEDIA, I-frame variants, session tags.
    public var renditions = 1_024
    /// Attributes of one line.
    public var attributes = 128
    /// KEYFORMATs in force at the same time.
    public var keyFormats = 16
    /// The documented limits.
    public static let standard = PlaylistLimits()
    /// Creates the standard limits.
    public init() {}
}
