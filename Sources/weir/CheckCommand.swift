import API
import Application
import ArgumentParser

/// `weir check`
struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a playlist and the playlists that it names.",
        discussion: """
            Reads playlists alone, no media, and needs no daemon. Of a file, it reads playlists in its folder and below. Ends with \
            65 where players fail.
            """)

    @Argument(help: ArgumentHelp("Any HLS URL, or a playlist on disk.", valueName: "url|file"))
    var source: String

    @Flag(help: "Write one JSON object per line: the diagnostics, then a result.")
    var json = false

    func run() async throws {
        let check = PlayerURL.isURL(source) ? await PlaylistCheck.ofURL(source) : await PlaylistCheck.ofFile(source)
        let lines = json ? CheckRecord.lines(check) : CheckText.lines(check)
        if !lines.isEmpty { Output.line(lines.joined(separator: "\n")) }
        if let failure = check.failure {
            let text = Failure(
                failure.message, next: failure.next, exitCode: failure.exitCode, code: failure.code
            ).text
            Output.error(text)
        }
        if check.exitCode != 0 { throw ExitCode(check.exitCode) }
    }
}

extension PlaylistCheck {
    /// The exit code: 65 if there are errors.
    var exitCode: Int32 { failure?.exitCode ?? (count(of: .error) > 0 ? 65 : 0) }
}
