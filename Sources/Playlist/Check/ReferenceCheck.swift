/// Where the URIs of one playlist lead (RFC 3986 §5.2).
struct ReferenceCheck {
    /// A URI, and the line that it stands in.
    private struct Reference {
        let uri: String
        let line: Int
    }

    private let playlist: Playlist
    private let references: [Reference]

    /// Gathers all that a player may ask for.
    init(_ playlist: Playlist) {
        self.playlist = playlist
        switch playlist {
        case .media(let playlist): references = Self.references(of: playlist)
        case .multivariant(let playlist): references = Self.references(of: playlist)
        }
    }

    /// Looks at every URI of the playlist that came from `url`; `resolving` gives the URL that one means, nil for none.
    func run(url: String, resolving: (String) -> String?, _ findings: inout Findings) {
        for reference in references {
            guard let target = resolving(reference.uri) else {
                findings.add(.unresolvable, line: reference.line, "the URI means no http or https URL")
                continue
            }
            // That a multivariant playlist names itself is a matter of `PresentationCheck`.
            if target == url, case .media = playlist {
                findings.add(.selfReference, line: reference.line, "the URI leads back to the playlist")
            } else if target.utf8.starts(with: "http:".utf8), url.utf8.starts(with: "https:".utf8) {
                findings.add(
                    .insecure, line: reference.line, "the URI leads from https to http, where browsers do not go")
            }
        }
    }

    private static func references(of playlist: MediaPlaylist) -> [Reference] {
        var found = playlist.keys.filter(\.isFetchable).map { Reference(uri: $0.uri, line: $0.line) }
        found += playlist.maps.map { Reference(uri: $0.uri, line: $0.line) }
        // Gaps are never asked for.
        for segment in playlist.segments where !segment.isGap {
            found.append(Reference(uri: segment.uri, line: segment.line))
        }
        for part in playlist.parts where !part.isGap { found.append(Reference(uri: part.uri, line: part.line)) }
        return found + playlist.preloadHints.map { Reference(uri: $0.uri, line: $0.line) }
    }

    private static func references(of playlist: MultivariantPlaylist) -> [Reference] {
        var found: [Reference] = []
        for (place, uri) in playlist.renditionURIs.enumerated() {
            if let line = playlist.line(ofRendition: place) { found.append(Reference(uri: uri, line: line)) }
        }
        found += playlist.imageVariants.map { Reference(uri: $0.uri, line: $0.line) }
        for data in playlist.sessionData {
            if let uri = data.uri { found.append(Reference(uri: uri, line: data.line)) }
        }
        found += playlist.sessionKeys.filter(\.isFetchable).map { Reference(uri: $0.uri, line: $0.line) }
        return found + (playlist.contentSteering.map { [Reference(uri: $0.serverURI, line: $0.line)] } ?? [])
    }
}
