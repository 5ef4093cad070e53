import ArgumentParser
import Daemon
import Foundation
import WeirAPI

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Show, edit or check the configuration.",
        discussion: "Needs no daemon. A daemon that runs reads the file again when it is started the next time.",
        subcommands: [ConfigShowCommand.self, ConfigEditCommand.self, ConfigCheckCommand.self],
        defaultSubcommand: ConfigShowCommand.self)
}

extension DaemonOptions {
    fileprivate func report() throws(ConfigurationError) -> ConfigurationReport {
        try ConfigurationReport(options: settings, file: config, environment: ProcessInfo.processInfo.environment)
    }
}

struct ConfigShowCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show each key with its value, and where the value comes from.")

    @Flag(help: "Leave out keys that have their default.")
    var changed = false
    @Flag(help: "Write one JSON object per line.")
    var json = false
    @OptionGroup var common: LocationOptions

    func execute() async throws {
        let report = try common.report()
        let entries = report.entries.filter { !changed || $0.source != "default" }
        guard !json else {
            return Output.records(entries.map(Self.record))
        }
        guard !entries.isEmpty else { return Output.error("every key has its default\n") }
        Output.lines(
            TextTable(rows: [["KEY", "FROM", "VALUE"]] + entries.map { [$0.name, $0.source, $0.value] }).lines)
    }
}

extension ConfigShowCommand {
    /// The line of `--json` about a setting.
    static func record(_ entry: ConfigurationReport.Entry) -> String {
        var line = JSONLine("key")
        line.add("name", entry.name)
        line.add("value", entry.value)
        line.add("source", entry.source)
        return line.text
    }
}

struct ConfigEditCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Open the configuration file in an editor, and check it afterwards.",
        discussion: """
            The editor is VISUAL, EDITOR, or the first of editor, nano and vi that is installed. A file that does not exist is created \
            with every key as a comment.
            """)

    @OptionGroup var common: LocationOptions

    func execute() async throws {
        let environment = ProcessInfo.processInfo.environment
        let path = ConfigurationReport.path(file: common.config, environment: environment)
        try ConfigurationEditor.prepare(path)
        try ConfigurationEditor.run(on: path, environment: environment)
        Output.line(ConfigCheckCommand.line(try common.report()))
        let state = try common.daemon(starts: false).client.state
        if state.isServed {
            Output.error("weir: the daemon has the earlier configuration; to end it: weir stop\n")
        }
    }
}

struct ConfigCheckCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the configuration and the streams file.",
        discussion: "Exits with 78 for a mistake, and names the line.")

    @OptionGroup var common: LocationOptions

    func execute() async throws { Output.line(Self.line(try common.report())) }

    static func line(_ report: ConfigurationReport) -> String {
        let changed = report.entries.count { $0.source != "default" }
        let streams = Format.count(report.streams, "stream")
        guard report.fileExists else { return "there is no \(report.path): defaults apply; \(streams)" }
        return "\(report.path) is right: \(Format.count(changed, "setting")), \(streams)"
    }
}
