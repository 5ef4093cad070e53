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

/// `weir resume`
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resume downloads.",
        discussion: """
            One that waits tries at once. With --url the rest comes from another place: for a link that has expired. What is \
            stored already is not fetched again.
            """)

    @OptionGroup var downloads: DownloadNames

    @Option(help: ArgumentHelp("New URL of the asset's playlist.", valueName: "url"))
    var url: String?

    @OptionGroup var headers: HeaderOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if url != nil || !headers.header.isEmpty, downloads.names.count != 1 {
            throw ValidationError("--url and --header go with one name.")
        }
        _ = try headers.fields
    }

    func run() async throws {
        try await reporting(common) {
            let request = API.ResumeRequest(url: url, headers: try headers.fields)
            try await downloads.perform(.resume, request, in: common.daemon()) {
                $0.state == .paused || $0.state == .waiting || $0.state == .failed
            }
        }
    }
}

/// `weir cancel`
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel downloads; keep what is stored.",
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
