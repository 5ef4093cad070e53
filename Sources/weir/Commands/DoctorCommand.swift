import ArgumentParser
import Daemon
import Foundation

struct DoctorCommand: AsyncParsableCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Check the installation and suggest fixes.",
        discussion: """
            Needs no daemon, and changes nothing. Exits with 0 if there is no fault, with 78 for a fault in a setting, and \
            with 1 for any other fault; warnings do not count. Give it the options of "weir serve".
            """)

    @Flag(help: "Write one JSON object per line: the findings, then a result.")
    var json = false
    @Option(name: .key(.lan), help: ArgumentHelp(.lan))
    var lan: String?
    @OptionGroup var common: LocationOptions

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        var options = common.settings
        options[.lan] = lan.map { [$0] }
        let report = await Doctor(options: options, file: common.config, environment: environment).report()
        if json {
            Output.records(Self.records(report))
        } else {
            Output.lines(Self.lines(report))
        }
        if report.exitCode != 0 {
            throw ExitCode(report.exitCode)
        }
    }

    /// One line per finding, and one more for its next step.
    static func lines(_ report: Doctor.Report) -> [String] {
        let width = report.findings.map(\.subject.count).max() ?? 0
        let margin = String(repeating: " ", count: width + 11)
        var lines: [String] = []
        for finding in report.findings {
            let head = finding.grade.rawValue.padded(to: 7) + "  " + finding.subject.padded(to: width) + "  "
            lines.append(head + finding.message)
            if let next = finding.next {
                lines.append("\(margin)try: \(next)")
            }
        }
        return lines
    }

    static func records(_ report: Doctor.Report) -> [String] {
        let findings = report.findings.map { finding in
            var line = JSONLine("finding")
            line.add("subject", finding.subject)
            line.add("grade", finding.grade.rawValue)
            line.add("message", finding.message)
            line.add("next", finding.next)
            return line.text
        }
        var result = JSONLine("result")
        for grade in [Finding.Grade.warning, .fault] {
            result.add("\(grade.rawValue)s", report.findings.count { $0.grade == grade })
        }
        result.add("exit", Int(report.exitCode))
        return findings + [result.text]
    }
}
