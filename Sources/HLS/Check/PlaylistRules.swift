/// Checks playlists for violations of RFC 8216 and rfc8216bis, and for features that current players lack.
///
/// Players fail at a text with a finding of severity `error`.
public enum PlaylistRules {
    /// Returns the findings for one text, in line order. Pass the response body with any content encoding removed.
    ///
    /// An unreadable text has exactly one error, and the findings for its lines.
    public static func diagnostics(
        of bytes: [UInt8], variables: VariableSources = .none, limits: PlaylistLimits = .standard
    ) -> [PlaylistDiagnostic] {
        var findings = Findings()
        var written: PlaylistText?
        do throws(PlaylistError) {
            let text = try PlaylistText(bytes, limits: limits)
            written = text
            let isMultivariant = try Playlist.isMultivariant(text)
            var lines = TextCheck(text: text, isMultivariant: isMultivariant, findings: findings)
            lines.run()
            findings = lines.findings
            let playlist = try Playlist.parse(bytes, variables: variables, limits: limits)
            findings.add(mends: playlist.text.mends, in: text, variables)
            switch playlist {
            case .media(let playlist): MediaPlaylistCheck(playlist: playlist, source: text).run(&findings)
            case .multivariant(let playlist): MultivariantCheck(playlist: playlist, source: text).run(&findings)
            }
        } catch {
            findings.add(error, in: written)
        }
        return findings.all
    }

    /// Returns the findings for a playlist's URIs: unresolvable ones, the playlist's own, and http in an https playlist. `url`
    /// is its URL after redirects. `resolving` resolves a URI; nil if the result is not http or https.
    public static func references(
        of playlist: Playlist, url: String, resolving: (String) -> String?
    ) -> [PlaylistDiagnostic] {
        var findings = Findings()
        ReferenceCheck(playlist).run(url: url, resolving: resolving, &findings)
        return findings.all
    }

    /// Returns the findings for a presentation that no single text shows.
    ///
    /// - Parameters:
    ///     - multivariant: the multivariant playlist.
    ///     - media: the media playlists that could be parsed, by their index in `MultivariantPlaylist.renditionURIs`.
    ///     - multivariants: the indices whose URI returned a multivariant playlist instead.
    ///     - url: the URL of the multivariant playlist.
    ///     - resolving: resolves a URI; nil if the result is not an http or https URL.
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

/// Checks the URIs of one playlist (RFC 3986 §5.2).
struct ReferenceCheck {
    private struct Reference {
        let uri: String
        let line: Int
    }

    private let playlist: Playlist
    private let references: [Reference]

    init(_ playlist: Playlist) {
        self.playlist = playlist
        switch playlist {
        case .media(let playlist): references = Self.references(of: playlist)
        case .multivariant(let playlist): references = Self.references(of: playlist)
        }
    }

    /// Checks each URI of the playlist at `url`. `resolving` returns the URL of a URI; nil if it has none.
    func run(url: String, resolving: (String) -> String?, _ findings: inout Findings) {
        for reference in references {
            // An undefined variable is reported already.
            if VariableTable.refers(Array(reference.uri.utf8), 0..<reference.uri.utf8.count) {
                continue
            }
            guard let target = resolving(reference.uri) else {
                findings.add(.unresolvable, line: reference.line, "the URI does not resolve to an http or https URL")
                continue
            }
            // `PresentationCheck` reports a multivariant playlist that names itself.
            if target == url, case .media = playlist {
                findings.add(.selfReference, line: reference.line, "the URI refers to the playlist itself")
            } else if target.utf8.starts(with: "http:".utf8), url.utf8.starts(with: "https:".utf8) {
                findings.add(.insecure, line: reference.line, "an http URI in an https playlist; browsers block it")
            }
        }
    }

    private static func references(of playlist: MediaPlaylist) -> [Reference] {
        var found = playlist.keys.filter { $0.isFetchable && !$0.isData }.map { Reference(uri: $0.uri, line: $0.line) }
        found += playlist.maps.map { Reference(uri: $0.uri, line: $0.line) }
        // Players do not request gaps.
        for segment in playlist.segments where !segment.isGap {
            found.append(Reference(uri: segment.uri, line: segment.line))
        }
        for part in playlist.parts where !part.isGap {
            found.append(Reference(uri: part.uri, line: part.line))
        }
        return found + playlist.preloadHints.map { Reference(uri: $0.uri, line: $0.line) }
    }

    private static func references(of playlist: MultivariantPlaylist) -> [Reference] {
        var found: [Reference] = []
        for (index, uri) in playlist.renditionURIs.enumerated() {
            if let line = playlist.line(ofRendition: index) {
                found.append(Reference(uri: uri, line: line))
            }
        }
        found += playlist.imageVariants.map { Reference(uri: $0.uri, line: $0.line) }
        for data in playlist.sessionData {
            if let uri = data.uri {
                found.append(Reference(uri: uri, line: data.line))
            }
        }
        found += playlist.sessionKeys.filter { $0.isFetchable && !$0.isData }.map {
            Reference(uri: $0.uri, line: $0.line)
        }
        if let steering = playlist.contentSteering {
            found.append(Reference(uri: steering.serverURI, line: steering.line))
        }
        return found
    }
}
