/// A playlist of either kind (RFC 8216 §4).
public enum Playlist: Sendable {
    case multivariant(MultivariantPlaylist)
    case media(MediaPlaylist)

    /// Reads a body as it came from the origin, decoded from any content encoding.
    ///
    /// `variables` is what EXT-X-DEFINE may draw on; every property and every view has variables replaced already.
    public static func parse(
        _ bytes: [UInt8], variables: VariableSources = .none, limits: PlaylistLimits = .standard
    ) throws(PlaylistError) -> Playlist {
        let source = try PlaylistText(bytes, limits: limits)
        let isMultivariant = try isMultivariant(source)
        let (text, values) = try VariableExpansion.expanded(source, variables, isMultivariant: isMultivariant, limits)
        if isMultivariant { return .multivariant(try MultivariantPlaylist(text, variables: values, limits)) }
        return .media(try MediaPlaylist(text, limits))
    }

    /// The text that was read.
    public var text: PlaylistText {
        switch self {
        case .multivariant(let playlist): playlist.text
        case .media(let playlist): playlist.text
        }
    }

    /// Which kind a text is, by its tags.
    ///
    /// EXTINF beside a tag that names variants or renditions is refused. Other tags of the wrong kind are tolerated, as
    /// players do.
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
            throw text.error(.mixedTags, max(variantLine, infLine), "tags of multivariant and of media playlists")
        }
        if variantLine != nil { return true }
        if infLine != nil || mediaLine != nil { return false }
        if let uriLine { throw text.error(.unannouncedURI, uriLine, "a URI without an EXTINF before it") }
        throw PlaylistError(.notAPlaylist, "the playlist names neither segments nor variants")
    }
}
