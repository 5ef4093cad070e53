import ArgumentParser
import Daemon

struct ServeCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the daemon in the foreground.",
        discussion: """
            Prints one line when it is ready, and ends on SIGINT or SIGTERM. A service manager is notified of both (systemd: \
            Type=notify). Its sockets, if any, replace --listen; then clients wait while Weir restarts.
            """)

    @OptionGroup var common: LocationOptions
    @OptionGroup var keys: KeyOptions

    func execute() async throws {
        let configuration = try common.configuration(with: keys.settings)
        let endsWhenIdle = keys.settings[.idleExit] != nil
        try await Application.run(configuration, streams: try configuration.streams(), endsWhenIdle: endsWhenIdle)
    }
}
