import Library
import Playlist

/// What `weir check` writes for people: a line for each finding, as compilers do, and one for all.
enum CheckText {
    static func lines(_ outcome: CheckCommand.Outcome) -> [String] {
        let report = outcome.report
        let found = report.playlists.flatMap { playlist in playlist.diagnostics.map { line($0, of: playlist.name) } }
        guard outcome.failure == nil else { return found }
        return found + [summary(report)]
    }

    private static func line(_ finding: PlaylistDiagnostic, of name: String) -> String {
        let place = finding.line.map { "\(name):\($0)" } ?? name
        return printable("\(place): \(finding.severity): \(finding.message) (\(finding.clause))")
    }

    private static func summary(_ report: CheckReport) -> String {
        let playlists = count(report.playlists.count, "playlist")
        let counts = PlaylistDiagnostic.Severity.allCases.reversed().compactMap { severity in
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

    /// Names and values are strangers' text: nothing of it may move a terminal's cursor.
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
