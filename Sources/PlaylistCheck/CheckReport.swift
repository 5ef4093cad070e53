// The room PlaylistCheck.
//
// Duty: `weir check`: reads a presentation, applies all rules, reports.
// Entrance: `CheckReport`.
// Does not enter: the rules for one text, which are in `HLS`.

package import HLS
import HTTPMessage
package import Origin

/// The findings of a check, playlist by playlist.
package struct CheckReport: Sendable {
    /// A playlist that was read, or that could not be read.
    package struct Checked: Sendable {
        /// The URL without secrets, or the path relative to the entry's folder.
        package let name: String
        /// Findings about the playlist as a whole first, then by line.
        package let diagnostics: [PlaylistDiagnostic]

        /// Sorts `diagnostics` by line.
        package init(name: String, diagnostics: [PlaylistDiagnostic]) {
            self.name = name
            let placed = diagnostics.enumerated().sorted { first, second in
                let firstLine = first.element.line ?? 0
                let secondLine = second.element.line ?? 0
                // Findings of one line stay in the order of the rules.
                return (firstLine, first.offset) < (secondLine, second.offset)
            }
            self.diagnostics = placed.map(\.element)
        }
    }

    /// The entry, then the playlists it names, in line order.
    package let playlists: [Checked]
    /// The reason why nothing was checked; nil if the entry could be read, whatever was found in it.
    package let failure: PlaylistCheckError?
    /// The reason why nothing of the presentation can be opened, although the entry could be read: it is no playlist, or none
    /// of the variants' playlists can be had. Nil otherwise.
    package let refusal: PlaylistCheckError?

    package init(playlists: [Checked], failure: PlaylistCheckError? = nil, refusal: PlaylistCheckError? = nil) {
        self.playlists = playlists
        self.failure = failure
        self.refusal = refusal
    }

    /// The number of findings of one severity.
    package func count(of severity: PlaylistDiagnostic.Severity) -> Int {
        playlists.reduce(0) { $0 + $1.diagnostics.count { $0.severity == severity } }
    }
}

extension CheckReport {
    /// Fetches the playlist and every playlist that it names. The URL's host may be private. Throws `invalidURL`.
    package static func ofURL(
        _ text: String, by configuration: OriginClient.Configuration = .init(), way: CheckWay = CheckWay()
    ) async throws(PlaylistCheckError) -> CheckReport {
        let url: WebURL
        do {
            url = try WebURL(text)
            // No handler is asked here.
            if url.needsHandler {
                throw WebURLError.unsupportedScheme
            }
        } catch {
            throw PlaylistCheckError(.invalidURL, "\(error)", underlying: error)
        }
        return await PresentationReader(source: OriginCheckSource(entry: url, configuration, by: way)).run()
    }

    /// Reads a file, and the playlists that it names in its folder and below. Opens nothing else.
    package static func ofFile(_ path: String) async -> CheckReport {
        await PresentationReader(source: PlaylistFolder(path: path)).run()
    }
}

/// The reason why a playlist could not be checked.
package struct PlaylistCheckError: Error, CustomStringConvertible, Sendable {
    /// The kind of error.
    package enum Code: Sendable {
        /// The text is not an http or https URL.
        case invalidURL
        case unreadableFile
        /// The body is larger than a playlist may be.
        case tooLarge
        /// The text is no playlist.
        case notPlaylist
        /// The origin answered 404 for the entry.
        case notFound
        /// Any other error of the origin: `underlying` is an `OriginError`.
        case origin
    }

    package let code: Code
    /// A sentence for the user, without secrets.
    package let message: String
    /// The error of the room below, if there was one.
    package let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    package var description: String { message }
}
