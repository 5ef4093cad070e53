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

    @Flag(help: "One that lists what is stored whole alone, where there is such.")
    var local = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if offline, local { throw ValidationError("--offline and --local exclude each other") }
    }

    func run() async throws {
        try await reporting(common) {
            Output.line(try await Entry(source, offline: offline, local: local, in: common.daemon()).url)
        }
    }
}

/// What a player is to be given.
struct Entry {
    let url: String

    /// Finds the URL for a name or an origin URL; a name has to exist, and so does an asset for a URL that is to play
    /// offline.
    init(_ source: String, offline: Bool, local: Bool, in daemon: Daemon) async throws(ControlError) {
        guard PlayerURL.isURL(source) else {
            let name = try await daemon.client.asset(named: source).name
            url =
                offline
                ? daemon.urls.offlineAsset(named: name)
                : local ? daemon.urls.localEntry(name) : daemon.urls.asset(named: name)
            return
        }
        guard offline else {
            url = local ? daemon.urls.localEntry(source) : daemon.urls.origin(url: source)
            return
        }
        guard let asset = try await daemon.client.assets().first(where: { $0.url == source }) else {
            throw ControlError(
                .noSuchAsset, "nothing is stored of \(source)", next: "weir get URL, while there is a network")
        }
        url = daemon.urls.offlineAsset(named: asset.name)
    }
}
