import ArgumentParser
import Daemon
import WeirAPI

struct StatusCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the daemon's state: where it runs, what plays, what downloads.",
        discussion: """
            Works without a daemon, and starts none. Exits with 0 whether it runs or not, and with 75 if it runs but does not answer \
            within 3 s.
            """)

    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: LocationOptions

    func execute() async throws {
        let daemon = try common.daemon(starts: false, limit: .seconds(3))
        let status = try await DaemonStatus(of: daemon)
        if json {
            try Output.json(status)
        } else {
            Output.lines(StatusText.table(status).lines)
        }
        guard let failure = status.error else { return }
        throw CommandFailure(
            failure.message, next: "weir stop", exitCode: failure.code.exitCode, code: failure.code.rawValue
        ).inResult
    }
}
