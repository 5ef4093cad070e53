internal import Assets
internal import Control
internal import EventLoop
internal import HLS
internal import HTTPMessage
internal import Origin
internal import PlaylistCheck
package import WeirAPI

/// The result of `weir check` in a form that needs no room below: a check needs no daemon and stores nothing.
package struct CheckResult: Sendable {
    /// One result of the check, about one playlist.
    package struct Finding: Sendable {
        /// The playlist: its URL without secrets, or its path.
        package let playlist: String
        /// The line number from 1; nil for the playlist as a whole.
        package let line: Int?
        /// `note`, `warning` or `error`.
        package let severity: String
        package let code: String
        /// The clause that contains the rule, such as `RFC 8216 §4.3.3.1`.
        package let clause: String
        /// The error, without a full stop.
        package let message: String
    }

    /// The reason why a check failed.
    package struct Failure: Sendable {
        /// The code for programs: `no-such-file`, or a code of the API.
        package let code: String
        /// A sentence without a capital or a full stop.
        package let message: String
        package let next: String?
        package let exitCode: Int32
    }

    /// The entry playlist first, then all others in the order of their lines, including unreadable ones.
    package let playlists: [String]
    /// The findings, grouped by playlist: first those about the whole playlist, then by line.
    package let findings: [Finding]
    /// The reason why the check failed; nil if the entry playlist could be read.
    package let failure: Failure?
    /// The exit code of the commands that open the same URL, if they refuse it; nil if they open it, and for a file.
    private let refusal: Int32?

    /// The exit code: that of the failure, or that of the other commands, or 65 if players would fail.
    package var exitCode: Int32 {
        if let code = failure?.exitCode ?? refusal {
            return code
        }
        return count(of: "error") > 0 ? 65 : 0
    }

    package func count(of severity: String) -> Int { findings.count { $0.severity == severity } }

    /// Fetches the playlist at a URL and all playlists that it names. The URL's host and port may be private.
    /// The proxies, authorities and allowed hosts are those of the configuration; a wrong configuration is the daemon's to
    /// report.
    package static func ofURL(_ order: API.PresentationRequest, environment: [String: String]) async -> CheckResult {
        let configuration = try? Configuration.load(options: [:], environment: environment)
        let checked: (url: String, way: CheckWay)
        do throws(APIError) {
            checked = try await Self.way(of: order)
        } catch {
            return CheckResult(failure: Failure(error))
        }
        do throws(PlaylistCheckError) {
            let origin = configuration?.origin { _ in } ?? .init()
            let report = try await CheckReport.ofURL(checked.url, by: origin, way: checked.way)
            return CheckResult(report, refusal: report.refusal.map { Failure($0).exitCode })
        } catch {
            return CheckResult(CheckReport(playlists: [], failure: error))
        }
    }

    /// The URL of an order without a password, and the way to its origin.
    @LoopActor private static func way(
        of order: API.PresentationRequest
    ) throws(APIError) -> (url: String, way: CheckWay) {
        var way = CheckWay()
        guard order != API.PresentationRequest(source: order.source) else { return (order.source, way) }
        let origin = try OriginOrder(order.source, headers: order.headers, route: order.route)
        way.fields = origin.fields ?? UserFields()
        way.route = try origin.route(from: OriginRoute()) ?? OriginRoute()
        let cookies = order.cookies ?? []
        way.cookies = cookies.compactMap { StoredCookie($0.utf8) }
        return (origin.url.text, way)
    }

    /// Reads a playlist file, and the playlists that it names in its folder and below. Opens nothing else.
    package static func ofFile(_ path: String) async -> CheckResult { CheckResult(await CheckReport.ofFile(path)) }

    private init(failure: Failure) {
        self.failure = failure
        playlists = []
        findings = []
        refusal = nil
    }

    private init(_ report: CheckReport, refusal: Int32? = nil) {
        self.refusal = refusal
        playlists = report.playlists.map(\.name)
        var findings: [Finding] = []
        for playlist in report.playlists {
            findings += playlist.diagnostics.map { Finding($0, playlist.name) }
        }
        self.findings = findings
        failure = report.failure.map(Failure.init)
    }
}

extension CheckResult.Finding {
    fileprivate init(_ finding: PlaylistDiagnostic, _ playlist: String) {
        self.playlist = playlist
        line = finding.line
        code = finding.code
        clause = finding.clause
        message = finding.message
        severity = finding.severity.rawValue
    }
}

extension CheckResult.Failure {
    fileprivate init(_ error: APIError) {
        code = error.code.rawValue
        message = error.message
        next = error.next
        exitCode = error.code.exitCode
    }

    fileprivate init(_ error: PlaylistCheckError) {
        let known = APIError(LibraryError(error))
        message = known.message
        switch error.code {
        case .unreadableFile: (code, next, exitCode) = ("no-such-file", "give a URL, or the path of a playlist", 66)
        case .tooLarge: (code, next, exitCode) = (known.code.rawValue, nil, known.code.exitCode)
        // A check never uses the daemon's store.
        default: (code, next, exitCode) = (known.code.rawValue, Self.nextStep(known), known.code.exitCode)
        }
    }

    private static func nextStep(_ error: APIError) -> String? {
        switch error.code {
        case .badOrigin: "check the URL, or repeat the command later"
        case .originAbsent: "repeat the command later"
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
            case .tooLarge, .notPlaylist: .notPlaylist
            case .notFound, .origin: .badOrigin
            }
        self.init(code, error.message, underlying: error.underlying)
    }
}
