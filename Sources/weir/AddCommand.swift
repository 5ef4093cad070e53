import API
import ArgumentParser
import Foundation

/// `weir add`
struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Queue a download and return.",
        discussion: "The daemon downloads when its turn comes. \"weir get NAME\" follows it, \"weir list\" lists all.")

    @Argument(help: ArgumentHelp("URL of the playlist, or the name of a known asset.", valueName: "url"))
    var source: String

    @OptionGroup(title: "What to choose") var selection: SelectionOptions

    @OptionGroup(title: "The download") var task: TaskOptions

    @Flag(help: "Queue it paused; \"weir resume\" starts it.")
    var paused = false

    @Flag(help: "Write the download as one JSON object.")
    var json = false

    @OptionGroup var common: CommonOptions

    func validate() throws { try task.check(selection) }

    func run() async throws {
        try await reporting(common) {
            let daemon = try common.daemon()
            var request = try task.request(for: source, selection, environment: ProcessInfo.processInfo.environment)
            request.paused = paused ? true : nil
            let artwork = try task.ownArtwork()
            let download = try await daemon.client.download(request)
            if let artwork { _ = try await daemon.client.keepArtwork(artwork, ofAsset: download.asset) }
            guard !json else { return Output.line(String(decoding: try API.encode(download), as: UTF8.self)) }
            Output.line("\(ProgressReporter.headline(download))   \(download.stateWords)")
            Output.error("follow it:  weir get \(download.asset)\n")
        }
    }
}
