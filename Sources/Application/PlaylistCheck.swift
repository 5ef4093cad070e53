internal import API
internal import Control
internal import Library
internal import Origin
internal import Playlist
internal import PlaylistCheck

/// Result of a check of a presentation's playlists. A check needs no daemon and stores nothing.
public struct PlaylistCheck: Sendable {
    /// Severity of a finding, least severe first.
    public enum Severity: String, CaseIterable, Sendable {
        /// Worth knowing, but not wrong.
        case note
        /// Violates a rule that most players tolerate, or uses a feature that some players lack.
        case warning
        /// Players fail, or play something unintended.
        case error
    }

    /// One result of the check, about one playlist.
    public struct Finding: Sendable {
        /// The playlist: its URL without secrets, or its path.
        public let playlist: String
        /// The line number from 1; nil for the playlist as a whole.
        public let line: Int?
        /// Severity of the finding.
        public let severity: Severity
        /// Kind of the finding; stable, for programs.
        public let code: String
        /// The clause that contains the rule, such as `RFC 8216 §4.3.3.1`.
        public let clause: String
        /// The error, without a full stop.
        public let message: String
    }

    /// The reason why a check failed.
    public struct Failure: Sendable {
        /// The code for programs: `no-such-file`, or a code of the API.
        public let code: String
        /// A sentence without a capital or a full stop.
        public let message: String
        /// Next step; nil if there is none.
        public let next: String?
        /// The exit code, as in sysexits(3).
        public let exitCode: Int32
    }

    /// All named playlists, including unreadable ones: the entry playlist first, then the others in the order of their
    /// lines.
    public let playlists: [String]
    /// The findings, grouped by playlist: first those about the whole playlist, then by line.
    public let findings: [Finding]
    /// The reason why the check failed; nil if the entry playlist could be read.
    public let failure: Failure?

    /// Number of findings of a severity.
    public func count(of severity: Severity) -> Int { findings.count { $0.severity == severity } }

    /// Fetches the playlist at a URL and all playlists that it names. The URL's host and port may be private.
    public static func ofURL(_ text: String) async -> PlaylistCheck {
        do throws(PlaylistCheckError) {
            return PlaylistCheck(try await CheckReport.ofURL(text))
        } catch {
            return PlaylistCheck(CheckReport(playlists: [], failure: error))
        }
    }

    /// Reads a playlist file, and the playlists that it names in its folder and below. Opens nothing else.
    public static func ofFile(_ path: String) async -> PlaylistCheck {
        PlaylistCheck(await CheckReport.ofFile(path))
    }

    private init(_ report: CheckReport) {
        playlists = report.playlists.map(\.name)
        findings = report.playlists.flatMap { playlist in playlist.diagnostics.map { Finding($0, playlist.name) } }
        failure = report.failure.map(Failure.init)
    }
}

extension PlaylistCheck.Finding {
    fileprivate init(_ finding: PlaylistDiagnostic, _ playlist: String) {
        self.playlist = playlist
        (line, code, clause, message) = (finding.line, finding.code, finding.clause, finding.message)
        severity =
            switch finding.severity {
            case .note: .note
            case .warning: .warning
            case .error: .error
            }
    }
}

extension PlaylistCheck.Failure {
    fileprivate init(_ error: PlaylistCheckError) {
        let known = APIError(LibraryError(error))
        message = known.message
        switch error.code {
        case .unreadableFile: (code, next, exitCode) = ("no-such-file", "give a URL, or the path of a playlist", 66)
        // The check judges the data, whatever its source: 65, not 76.
        case .tooLarge: (code, next, exitCode) = (known.code.rawValue, nil, 65)
        // A check never uses the daemon's store.
        default: (code, next, exitCode) = (known.code.rawValue, Self.ownNext(known), known.code.exitCode)
        }
    }

    private static func ownNext(_ error: APIError) -> String? {
        switch error.code {
        case .badOrigin: "check the URL, or the same command later"
        case .originAbsent: "the same command later"
        default: error.next
        }
    }
}

extension LibraryError {
    fileprivate init(_ error: PlaylistCheckError) {
        if error.code == .origin, let origin = error.underlying as? OriginError {
            self.init(origin)
            return
        }
        let code: Code =
            switch error.code {
            case .invalidURL: .refusedURL
            case .unreadableFile: .missing
            case .tooLarge: .notPlaylist
            case .notFound, .origin: .badOrigin
            }
        self.init(code, error.message, underlying: error.underlying)
    }
}
