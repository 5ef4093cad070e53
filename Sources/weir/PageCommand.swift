import API
import ArgumentParser
import Foundation

struct PageCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Print the link to the page, for a browser.",
        discussion: """
            After opening the link, http://localhost:8216/ lists, plays and downloads in this browser until the daemon ends. \
            The link contains a key: anyone with the link has your rights.
            """)

    @Flag(
        help: """
            Also open the link in the desktop's browser (xdg-open), through a file in the state directory: other users of \
            this machine can see the arguments of programs.
            """)
    var open = false
    @Flag(help: "Print a bookmark that asks the page to add what the browser shows, rather than the link.")
    var bookmarklet = false
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        let daemon = try common.daemon()
        guard !bookmarklet else {
            try await daemon.ensure()
            return Output.record(
                "javascript:void(window.open('\(daemon.urls.base)/add#url='+encodeURIComponent(location.href)))")
        }
        let path = try await daemon.client.page().path
        Output.record(daemon.urls.base + path)
        guard open else { return }
        let opener = try Self.opener(
            in: ProcessInfo.processInfo.environment, instead: "open the link in a browser on this machine")
        let file = try daemon.client.state.writePageFile(to: daemon.urls.base, path)
        throw Failure(opener.start([file]), exitCode: 1, code: "no-browser")
    }

    /// Finds the program that opens files on the desktop.
    ///
    /// - Parameter instead: the next step of a user without one.
    static func opener(in environment: [String: String], instead: String) throws(Failure) -> Program {
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0].map { !$0.isEmpty } ?? false }
        guard hasDisplay else {
            throw Failure(
                "the page cannot be opened: neither DISPLAY nor WAYLAND_DISPLAY is set",
                next: instead, exitCode: 69, code: "no-display")
        }
        if let opener = Program.find("xdg-open", environment: environment) { return opener }
        throw Failure(
            "xdg-open, which opens the desktop's browser, is not installed",
            next: "\(instead); or install xdg-utils", exitCode: 69, code: "no-browser")
    }
}
