import HTTPMessage
public import Playlist

/// The findings of a check, playlist by playlist.
public struct CheckReport: Sendable {
    /// A playlist that was read, or that could not be read.
    public struct Checked: Sendable {
        /// The URL without secrets, or the path relative to the entry's folder.
        public let name: String
        /// Findings about the playlist as a whole first, then by line.
        public let diagnostics: [PlaylistDiagnostic]

        /// Sorts `diagnostics` by line.
        public init(name: String, diagnostics: [PlaylistDiagnostic]) {
            self.name = name
            let placed = diagnostics.enumerated().sorted { first, second in
                (first.element.line ?? 0, first.offset) < (second.element.line ?? 0, second.offset)
            }
            self.diagnostics = placed.map(\.element)
        }
    }

    /// The entry, then the playlists it names, in line order.
    public let playlists: [Checked]
    /// The reason why nothing was checked; nil if the entry could be read, whatever was found in it.
    public let failure: PlaylistCheckError?

    /// A report of what was read.
    public init(playlists: [Checked], failure: PlaylistCheckError? = nil) {
        self.playlists = playlists
        self.failure = failure
    }

    /// The number of findings of one severity.
    public func count(of severity: PlaylistDiagnostic.Severity) -> Int {
        playlists.reduce(0) { $0 + $1.diagnostics.count { $0.severity == severity } }
    }
}

extension CheckReport {
    /// Fetches the playlist and every playlist that it names. The URL's host may be private. Throws `invalidURL`.
    public static func ofURL(_ text: String) async throws(PlaylistCheckError) -> CheckReport {
        let url: WebURL
        do {
            url = try WebURL(text)
        } catch {
            throw PlaylistCheckError(.invalidURL, "\(error)", underlying: error)
        }
        return await PresentationReader(source: OriginCheckSource(entry: url)).run()
    }

    /// Reads a file, and the playlists that it names in its folder and below. Opens nothing else.
    public static func ofFile(_ path: String) async -> CheckReport {
        await PresentationReader(source: PlaylistFolder(path: path)).run()
    }
}

/// The reason why a playlist could not be checked.
public struct PlaylistCheckError: Error, CustomStringConvertible, Sendable {
    /// The kind of error.
    public enum Code: Sendable {
        /// The text is not an http or https URL.
        case invalidURL
        case unreadableFile
        /// The body is larger than a playlist may be.
        case tooLarge
        /// The origin answered 404 for the entry.
        case notFound
        /// Any other error of the origin: `underlying` is an `OriginError`.
        case origin
    }

    /// The kind of error.
    public let code: Code
    /// A sentence for the user, without secrets.
    public let message: String
    /// The error of the room below, if there was one.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The message.
    public var description: String { message }
}
