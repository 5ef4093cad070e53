import Application

/// What `weir check --json` writes: a `diagnostic` for each finding, and one `result`.
enum CheckRecord {
    private static let version = 1

    static func lines(_ check: PlaylistCheck) -> [String] { check.findings.map(diagnostic) + [result(check)] }

    private static func diagnostic(_ finding: PlaylistCheck.Finding) -> String {
        var line = JSONLine()
        line.add("v", version)
        line.add("t", "diagnostic")
        line.add("playlist", finding.playlist)
        line.add("line", finding.line)
        line.add("severity", finding.severity.rawValue)
        line.add("code", finding.code)
        line.add("clause", finding.clause)
        line.add("message", finding.message)
        return line.text
    }

    private static func result(_ check: PlaylistCheck) -> String {
        var line = JSONLine()
        line.add("v", version)
        line.add("t", "result")
        line.add("playlists", check.playlists)
        line.add("errors", check.count(of: .error))
        line.add("warnings", check.count(of: .warning))
        line.add("notes", check.count(of: .note))
        line.add("error", check.failure.map { ["code": $0.code, "message": $0.message] })
        line.add("exit", check.exitCode)
        return line.text
    }
}
