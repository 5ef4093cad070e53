import ArgumentParser
import Daemon
import Foundation
import WeirAPI

/// Writes the addresses of a user into systemd's socket unit. systemd runs it when a user's service manager starts.
struct SocketSetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "socket-setup", abstract: "Write a drop-in of weir.socket with this user's addresses.",
        discussion: """
            For systemd.generator(7). Nothing is written for a user who has the standard port; where another user of the machine \
            has it, a free one is chosen and remembered.
            """)

    @Argument(help: ArgumentHelp("The folder of systemd for units that are made at its start.", valueName: "folder"))
    var folder: String
    @OptionGroup var common: LocationOptions

    func run() throws {
        do {
            let configuration = try common.configuration()
            let port = OwnPort(in: StateDirectory(configuration.state))
            guard let text = try port.socketUnit(for: configuration) else { return }
            let home = "\(folder)/weir.socket.d"
            try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: home + "/address.conf"))
        } catch {
            let failure = CommandFailure(error)
            Output.error(failure.text)
            throw ExitCode(failure.exitCode)
        }
    }
}
