import ArgumentParser
import Control
import Library
import Playlist

/// `weir check`
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Say what is wrong or unusual in a playlist, and in all that it names.",
        discussion: """
            Reads playlists alone, no media, and needs no daemon. Of a file, it reads what lies beside it or below. Ends with \
            65 where players fail.
            """)

    @Argument(help: ArgumentHelp("Any HLS URL, or a playlist on disk.", valueName: "url|file"))
    var source: String

    @Flag(help: "Write one JSON object a line: a diagnostic each, then one result.")
    var json = false

    func run() async throws {
        let outcome = await Self.outcome(source)
        let lines = json ? CheckRecord.lines(outcome) : CheckText.lines(outcome)
        if !lines.isEmpty { Output.line(lines.joined(separator: "\n")) }
        if let failure = outcome.failure { Output.error(failure.text) }
        if outcome.exitCode != 0 { throw ExitCode(outcome.exitCode) }
    }

    /// What a check came to.
    struct Outcome {
        var report: CheckReport
        /// Why there was nothing to check.
        var failure: Failure?

        /// 65 where players fail.
        var exitCode: Int32 { failure?.exitCode ?? (report.count(of: .error) > 0 ? 65 : 0) }
    }

    static func outcome(_ source: String) async -> Outcome {
        do {
            let report =
                PlayerURL.isURL(source)
                ? try await CheckReport.ofURL(source) : await CheckReport.ofFile(source)
            return Outcome(report: report, failure: report.failure.map(failure))
        } catch {
            return Outcome(report: CheckReport(playlists: []), failure: failure(error))
        }
    }

    /// What a daemon may have stored is of no help here.
    private static func withOwnNext(_ failure: Failure) -> Failure {
        var failure = failure
        switch failure.code {
        case ControlError.Code.badOrigin.rawValue: failure.next = "check the URL, or the same command later"
        case ControlError.Code.originAbsent.rawValue: failure.next = "the same command later"
        default: break
        }
        return failure
    }

    private static func failure(_ error: LibraryError) -> Failure {
        switch error.code {
        case .missing:
            Failure(error.message, next: "give a URL, or the path of a playlist", exitCode: 66, code: "no-such-file")
        // Whoever checks asked for a verdict on the data: that the origin sent it is not the point here.
        case .notPlaylist: Failure(error.message, exitCode: 65, code: ControlError.Code.notPlaylist.rawValue)
        default: withOwnNext(Failure(ControlError(error)))
        }
    }
}
