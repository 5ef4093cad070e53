import API
import ArgumentParser

/// `weir pause`
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stop downloads until they are resumed.",
        discussion: "What is stored stays, and plays. A restart of the daemon changes nothing.")

    @OptionGroup var downloads: DownloadNames

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            try await downloads.perform(.pause, in: common.daemon()) {
                $0.state == .queued || $0.state == .running || $0.state == .waiting
            }
        }
    }
}
