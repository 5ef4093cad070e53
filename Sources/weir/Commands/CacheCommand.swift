import ArgumentParser
import Foundation
import SafeText
import WeirAPI

struct CacheCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache", abstract: "Fetch the beginning of an asset into the play cache.",
        discussion: """
            It then starts at once, also on a bad network. Unlike a download it is not kept: it is evicted as media that was \
            played. See also: weir get NAME --range, which keeps a part.
            """)

    @Argument(
        help: ArgumentHelp("The asset's name, or the URL of a playlist.", valueName: "name"), completion: .assetNames)
    var name: String?
    @Option(help: ArgumentHelp("Media time from the start, in seconds.", valueName: "n"))
    var seconds: Seconds
    @Flag(help: "Write the asset as one JSON object.")
    var json = false
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @OptionGroup var common: CommonOptions

    private var words: [String] { [name].compactMap(\.self) }

    func validate() throws {
        try origin.check(words)
        guard seconds > 0, seconds <= 1e6 else { throw ValidationError("--seconds is a number above 0.") }
    }

    func execute() async throws {
        let client = try common.daemon().client
        let order = try await origin.order(for: words, in: client)
        var known = order.source
        if known.contains("://") || order.hasWay {
            origin.route.warn()
            known = try await client.call(Endpoints.open, body: order).name ?? known
        }
        var request = API.CacheRequest(seconds: seconds)
        if selection.areGiven {
            request.selection = selection.selection(environment: ProcessInfo.processInfo.environment)
        }
        let asset = try await client.call(Endpoints.cache, known, body: request)
        guard !json else { return try Output.json(asset) }
        Output.line(
            "\(asset.name)  the first \(Format.clock(seconds.value)) are cached, \(Format.bytes(asset.cachedBytes ?? 0)) in all"
        )
    }
}
