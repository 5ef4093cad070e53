import ArgumentParser
import Control

/// `weir page`
struct PageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Print the link to the page, for a browser.",
        discussion: """
            Open it, and http://localhost:8216/ lists, plays and downloads in this browser for as long as the daemon runs. \
            The link has a key in it: who has it can do what you can.
            """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            let daemon = try common.daemon()
            Output.line(daemon.urls.base + (try await daemon.client.page().path))
        }
    }
}
