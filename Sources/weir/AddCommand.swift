import API
import ArgumentParser
import Foundation

struct AddCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Queue a download and return.",
        discussion: "\"weir get NAME\" follows the download; \"weir list\" lists all downloads.")

    @Argument(
        help: ArgumentHelp("URL of the playlist, or the name of a known asset.", valueName: "url"),
        completion: .assetNames)
    var source: String
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "The download") var task: TaskOptions
    @Flag(help: "Queue the download paused; \"weir resume\" starts it.")
    var paused = false
    @Flag(help: "Write the download as one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws { try task.check(selection) }

    func execute() async throws {
        let daemon = try common.daemon()
        var request = try task.request(for: source, selection, environment: ProcessInfo.processInfo.environment)
        request.paused = paused ? true : nil
        let artwork = try task.artworkFile()
        let download = try await daemon.client.download(request)
        if let artwork { _ = try await daemon.client.setArtwork(artwork, ofAsset: download.asset) }
        guard !json else { return try Output.json(download) }
        Output.line("\(ProgressReporter.headline(download))   \(download.stateWords)")
        Output.error("follow with:  weir get \(download.asset)\n")
    }
}
