import Library
import Playlist

/// What `weir check --json` writes: a `diagnostic` for each finding, and one `result`.
enum CheckRecord {
    private static let version = 1

    static func lines(_ outcome: CheckCommand.Outcome) -> [String] {
        outcome.report.playlists.flatMap { playlist in playlist.diagnostics.map { diagnostic($0, of: playlist.name) } }
            + [result(outcome)]
    }

    private static func diagnostic(_ finding: PlaylistDiagnostic, of name: String) -> String {
        var line = JSONLine()
        line.add("v", version)
        line.add("t", "diagnostic")
        line.add("playlist", name)
        line.add("line", finding.line)
        line.add("severity", finding.severity.rawValue)
        line.add("code", finding.code)
        line.add("clause", finding.clause)
        line.add("message", finding.message)
        return line.text
    }

    private static func result(_ outcome: CheckCommand.Outcome) -> String {
        var line = JSONLine()
        line.add("v", version)
        line.add("t", "result")
        line.add("playlists", outcome.report.playlists.map(\.name))
        line.add("errors", outcome.report.count(of: .error))
        line.add("warnings", outcome.report.count(of: .warning))
        line.add("notes", outcome.report.count(of: .note))
        line.add("error", outcome.failure.map { ["code": $0.code, "message": $0.message] })
        line.add("exit", outcome.exitCode)
        return line.text
    }
}
