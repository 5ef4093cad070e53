import ArgumentParser
import Control

/// `weir url`
struct URLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "url", abstract: "Print the URL for a player.")

    @Argument(help: ArgumentHelp("The name of an asset, or any HLS URL.", valueName: "name|url"))
    var source: String

    @Flag(help: "One that never touches the network.")
    var offline = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) { Output.line(try await Entry(source, offline: offline, in: common.daemon()).url) }
    }
}

/// What a player is to be given.
struct Entry {
    let url: String

    /// Finds the URL for a name or an origin URL; a name has to exist, and so does an asset for a URL that is to play
    /// offline.
    init(_ source: String, offline: Bool, in daemon: Daemon) async throws(ControlError) {
        guard PlayerURL.isURL(source) else {
            let name = try await daemon.client.asset(named: source).name
            url = offline ? daemon.urls.offlineAsset(named: name) : daemon.urls.asset(named: name)
            return
        }
        guard offline else {
            url = daemon.urls.origin(url: source)
            return
        }
        guard let asset = try await daemon.client.assets().first(where: { $0.url == source }) else {
            throw ControlError(
                .noSuchAsset, "nothing is stored of \(source)", next: "weir get URL, while there is a network")
        }
        url = daemon.urls.offlineAsset(named: asset.name)
    }
}
