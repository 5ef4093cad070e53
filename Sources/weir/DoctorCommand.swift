import Application
import ArgumentParser
import Foundation

/// `weir doctor`
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check the installation and suggest fixes.",
        discussion: """
            Needs no daemon, and changes nothing. Ends with 0 where nothing is at fault, with 78 where a setting is, and \
            with 1 for the rest; warnings do not count. Give it the options that "weir serve" gets.
            """)

    @Flag(help: "Write one JSON object per line: the findings, then a result.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "The address where others on the network are to play, as \"weir serve\" gets it.", valueName: "address"))
    var lan: String?

    @OptionGroup var common: CommonOptions

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        var options = common.settings
        options[.lan] = lan.map { [$0] }
        let report = await Doctor(options: options, file: common.config, environment: environment).report()
        for line in json ? Self.records(report) : Self.lines(report) { Output.line(line) }
        if report.exitCode != 0 { throw ExitCode(report.exitCode) }
    }

    /// One line per finding, and one more for its next step.
    static func lines(_ report: Doctor.Report) -> [String] {
        let width = report.findings.map(\.subject.count).max() ?? 0
        return report.findings.flatMap { finding in
            let head = finding.grade.rawValue.padded(to: 7) + "  " + finding.subject.padded(to: width) + "  "
            let next = finding.next.map { [String(repeating: " ", count: width + 11) + "try: \($0)"] } ?? []
            return [head + finding.message] + next
        }
    }

    private static func records(_ report: Doctor.Report) -> [String] {
        let findings = report.findings.map { finding in
            var line = JSONLine()
            line.add("v", 1)
            line.add("t", "finding")
            line.add("subject", finding.subject)
            line.add("grade", finding.grade.rawValue)
            line.add("message", finding.message)
            line.add("next", finding.next)
            return line.text
        }
        var result = JSONLine()
        result.add("v", 1)
        result.add("t", "result")
        for grade in [Finding.Grade.warning, .fault] {
            result.add("\(grade.rawValue)s", report.findings.count { $0.grade == grade })
        }
        result.add("exit", Int(report.exitCode))
        return findings + [result.text]
    }
}
