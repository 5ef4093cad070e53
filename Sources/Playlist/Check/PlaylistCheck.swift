/// Says what is wrong or unusual in playlists: what breaks RFC 8216 or rfc8216bis, and what players of today cannot do.
///
/// A text with a finding of severity `error` is one that players fail at.
public enum PlaylistCheck {
    /// What there is to say of one text, as it came from the origin; findings are in the order of its lines.
    ///
    /// A text that cannot be read has one error, with what was seen in its lines before that.
    public static func diagnostics(
        of bytes: [UInt8], variables: VariableSources = .none, limits: PlaylistLimits = .standard
    ) -> [PlaylistDiagnostic] {
        var findings = Findings()
        do throws(PlaylistError) {
            let text = try PlaylistText(bytes, limits: limits)
            let isMultivariant = text.lines.contains { line in
                [.tag(.streamInf), .tag(.media), .tag(.iFrameStreamInf)].contains(line.kind)
            }
            var lines = TextCheck(text: text, isMultivariant: isMultivariant, findings: findings)
            lines.run()
            findings = lines.findings
            switch try Playlist.parse(bytes, variables: variables, limits: limits) {
            case .media(let playlist): MediaPlaylistCheck(playlist: playlist).run(&findings)
            case .multivariant(let playlist): MultivariantCheck(playlist: playlist).run(&findings)
            }
        } catch {
            findings.add(error)
        }
        return findings.all
    }

    /// What there is to say of the URIs that a playlist names: those that lead nowhere, back to it, or from https to
    /// http.
    ///
    /// - Parameters:
    ///   - url: where the playlist came from, after redirects.
    ///   - resolving: the URL that a URI of it means; nil where it is none that a player could ask for.
    public static func references(
        of playlist: Playlist, url: String, resolving: (String) -> String?
    ) -> [PlaylistDiagnostic] {
        var findings = Findings()
        ReferenceCheck(playlist).run(url: url, resolving: resolving, &findings)
        return findings.all
    }

    /// What there is to say of a presentation beyond what each of its texts says alone.
    ///
    /// - Parameters:
    ///   - multivariant: the playlist that names the others.
    ///   - media: the media playlists that could be read, by their places in `MultivariantPlaylist.renditionURIs`.
    ///   - multivariants: the places whose URI led to a multivariant playlist instead.
    ///   - url: the URL of the multivariant playlist.
    ///   - resolving: the URL that a URI of it means; nil where it is none.
    public static func diagnostics(
        of multivariant: MultivariantPlaylist, media: [Int: MediaPlaylist], multivariants: Set<Int> = [], url: String,
        resolving: (String) -> String?
    ) -> [PlaylistDiagnostic] {
        var findings = Findings()
        let check = PresentationCheck(multivariant: multivariant, media: media)
        check.checkReferences(multivariants, url: url, resolving: resolving, &findings)
        check.run(&findings)
        return findings.all
    }
}
