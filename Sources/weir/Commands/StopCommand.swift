import ArgumentParser
import Daemon
import Foundation
import WeirAPI

struct StopCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "stop", abstract: "End the daemon.",
        discussion: """
            Waits until it has gone. Unfinished downloads continue with the next daemon. A daemon that the user's service manager \
            runs is stopped there.
            """)

    @OptionGroup var common: LocationOptions

    func execute() async throws {
        let daemon = try common.daemon(starts: false)
        let stopper = DaemonStopper(daemon.client.state, environment: ProcessInfo.processInfo.environment)
        switch try await stopper.stop() {
        case .absent: Output.error("weir: no daemon runs with the state directory \(daemon.client.state.path)\n")
        case .stopped: Output.line("stopped the daemon")
        case .service(let keepsSockets):
            Output.line("stopped the service weir.service")
            guard keepsSockets else { return }
            Output.error("weir: the next connection starts it again, unless: systemctl --user stop weir.socket\n")
        }
    }
}
