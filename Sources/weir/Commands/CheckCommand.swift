import ArgumentParser
import Daemon
import Foundation
import WeirAPI

struct CheckCommand: AsyncParsableCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a playlist and the playlists that it names.",
        discussion: """
            Reads only playlists, no media, and needs no daemon. Starting from a file, it reads playlists in its folder and \
            below. Exits with 65 if players would fail, and with the code of "weir show" if that cannot open the URL.
            """)

    @Argument(help: ArgumentHelp("Any HLS URL, or a playlist on disk.", valueName: "url|file"))
    var source: String?
    @Flag(help: "Write one JSON object per line: the diagnostics, then a result.")
    var json = false
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions

    func validate() throws {
        try origin.check(words)
        if let source, !PlayerURL.isURL(source), origin.areGiven {
            throw ValidationError("A file has no origin: the options for the way to one need a URL.")
        }
    }

    private var words: [String] { [source].compactMap(\.self) }

    func run() async throws {
        try await reporting { try await check() }
    }

    private func check() async throws {
        let order = try origin.order(for: words)
        let check: CheckResult
        if PlayerURL.isURL(order.source) {
            check = await CheckResult.ofURL(order, environment: ProcessInfo.processInfo.environment)
        } else {
            check = await CheckResult.ofFile(order.source)
        }

        if json {
            Output.records(CheckRecord.lines(check))
        } else {
            Output.lines(CheckText.lines(check))
        }
        if let failure = check.failure {
            Output.error(CommandFailure(failure).text)
        }

        if check.exitCode != 0 {
            throw ExitCode(check.exitCode)
        }
    }
}

/// Output of `weir check` for users: one line per finding in the style of compilers, and a summary.
enum CheckText {
    static func lines(_ check: CheckResult) -> [String] {
        var lines = check.findings.map(line)
        if check.failure == nil {
            lines.append(summary(check))
        }
        return lines
    }

    private static func line(_ finding: CheckResult.Finding) -> String {
        var position = finding.playlist
        if let line = finding.line {
            position += ":\(line)"
        }
        return "\(position): \(finding.severity): \(finding.message) (\(finding.clause))"
    }

    private static func summary(_ report: CheckResult) -> String {
        let playlists = Format.count(report.playlists.count, "playlist")
        var counts: [String] = []
        for severity in ["error", "warning", "note"] {
            let number = report.count(of: severity)
            if number != 0 {
                counts.append(Format.count(number, severity))
            }
        }
        guard !counts.isEmpty else { return "\(playlists), no findings" }

        let verdict = report.count(of: "error") > 0 ? "players will fail" : "players can play it"
        return "\(playlists), \(counts.joined(separator: ", ")): \(verdict)"
    }
}

/// Output of `weir check --json`: one `diagnostic` per finding, and one `result`.
enum CheckRecord {
    static func lines(_ check: CheckResult) -> [String] { check.findings.map(diagnostic) + [result(check)] }

    private static func diagnostic(_ finding: CheckResult.Finding) -> String {
        var line = JSONLine("diagnostic")
        line.add("playlist", finding.playlist)
        line.add("line", finding.line)
        line.add("severity", finding.severity)
        line.add("code", finding.code)
        line.add("clause", finding.clause)
        line.add("message", finding.message)
        return line.text
    }

    private static func result(_ check: CheckResult) -> String {
        var line = JSONLine("result")
        line.add("playlists", check.playlists)
        line.add("errors", check.count(of: "error"))
        line.add("warnings", check.count(of: "warning"))
        line.add("notes", check.count(of: "note"))
        if let failure = check.failure {
            line.add(CommandFailure(failure))
        } else {
            line.add("exit", check.exitCode)
        }
        return line.text
    }
}
