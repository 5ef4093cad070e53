import API
import ArgumentParser
import Foundation

/// `weir page`
struct PageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Print the link to the page, for a browser.",
        discussion: """
            Open it, and http://localhost:8216/ lists, plays and downloads in this browser for as long as the daemon runs. \
            The link has a key in it: who has it can do what you can.
            """)

    @Flag(
        help: """
            Open it in the desktop's browser as well (xdg-open). The browser is given a file of the state directory that \
            leads there: other users of the machine see what programs are started with.
            """)
    var open = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            let daemon = try common.daemon()
            let path = try await daemon.client.page().path
            Output.line(daemon.urls.base + path)
            guard open else { return }
            let opener = try Self.opener(in: ProcessInfo.processInfo.environment)
            let door = try daemon.client.state.writeDoor(to: daemon.urls.base, path)
            throw Failure(opener.start([door]), exitCode: 1, code: "no-browser")
        }
    }

    /// Finds the program that opens files on the desktop.
    static func opener(in environment: [String: String]) throws(Failure) -> Program {
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0].map { !$0.isEmpty } ?? false }
        guard hasDisplay else {
            throw Failure(
                "there is no display to open the page on: neither DISPLAY nor WAYLAND_DISPLAY is set",
                next: "open the link in a browser of this machine", exitCode: 69, code: "no-display")
        }
        if let opener = Program.find("xdg-open", environment: environment) { return opener }
        throw Failure(
            "there is no xdg-open, which opens the desktop's browser",
            next: "open the link in a browser, or install xdg-utils", exitCode: 69, code: "no-browser")
    }
}
