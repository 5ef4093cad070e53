import API
import ArgumentParser

/// `weir cancel`
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Give downloads up.",
        discussion: """
            What is stored stays, and plays, until "weir remove" deletes it. "weir get" or "weir resume" takes the download up \
            again where it stopped. "resume --all" passes over what was cancelled.
            """)

    @OptionGroup var downloads: DownloadNames

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            try await downloads.perform(.cancel, in: common.daemon()) {
                $0.state != .complete && $0.state != .cancelled
            }
        }
    }
}
