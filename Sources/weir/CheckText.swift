import Application

/// Output of `weir check` for users: one line per finding in the style of compilers, and a summary.
enum CheckText {
    static func lines(_ check: PlaylistCheck) -> [String] {
        check.findings.map(line) + (check.failure == nil ? [summary(check)] : [])
    }

    private static func line(_ finding: PlaylistCheck.Finding) -> String {
        let place = finding.line.map { "\(finding.playlist):\($0)" } ?? finding.playlist
        return printable("\(place): \(finding.severity.rawValue): \(finding.message) (\(finding.clause))")
    }

    private static func summary(_ report: PlaylistCheck) -> String {
        let playlists = count(report.playlists.count, "playlist")
        let counts = PlaylistCheck.Severity.allCases.reversed().compactMap { severity in
            let number = report.count(of: severity)
            return number == 0 ? nil : count(number, severity.rawValue)
        }
        guard !counts.isEmpty else {
            return "\(playlists), and nothing to say against \(report.playlists.count == 1 ? "it" : "them")"
        }
        let verdict = report.count(of: .error) > 0 ? "players fail" : "players can play it"
        return "\(playlists), \(counts.joined(separator: ", ")): \(verdict)"
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)" + (number == 1 ? "" : "s")
    }

    /// Replaces control characters. Names and values come from strangers, and must not move a terminal's cursor.
    static func printable(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            let isFormat = (0x2028...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
            result.append(isControl || isFormat ? "·" : scalar)
        }
        return String(result)
    }
}

/// Output of `weir check --json`: one `diagnostic` per finding, and one `result`.
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
