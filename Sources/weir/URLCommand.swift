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

    @Flag(help: "One that gives a player which cannot adapt one variant, whose quality follows the network.")
    var auto = false

    @Flag(help: "End with 69 unless Weir answers there; wants no token.")
    var check = false

    @OptionGroup var common: CommonOptions

    func validate() throws { _ = try manner }

    private var manner: Entry.Manner { get throws { try .init(offline: offline, local: local, auto: auto) } }

    func run() async throws {
        try await reporting(common) {
            let daemon = try common.daemon()
            if check { try await daemon.client.findDaemon(at: daemon.base) }
            Output.line(try await Entry(source, try manner, in: daemon).url)
        }
    }
}

/// What a player is to be given.
struct Entry {
    let url: String

    /// In which kind of session it plays.
    enum Manner {
        case usual
        case offline
        case local
        case auto

        /// The one that was asked for; throws where more than one was.
        init(offline: Bool, local: Bool, auto: Bool) throws {
            let wanted = [(offline, Self.offline), (local, .local), (auto, .auto)].filter(\.0).map(\.1)
            if wanted.count > 1 { throw ValidationError("--offline, --local and --auto exclude each other") }
            self = wanted.first ?? .usual
        }
    }

    /// Finds the URL for a name or an origin URL; a name has to exist, and so does an asset for a URL that is to play
    /// offline.
    init(_ source: String, _ manner: Manner, in daemon: Daemon) async throws(ControlError) {
        let isURL = PlayerURL.isURL(source)
        let word = isURL ? source : try await daemon.client.asset(named: source).name
        switch manner {
        case .usual: url = daemon.urls.entry(word)
        case .local: url = daemon.urls.localEntry(word)
        case .auto: url = daemon.urls.adaptiveEntry(word)
        case .offline where !isURL: url = daemon.urls.offlineAsset(named: word)
        case .offline: url = try await Self.offline(source, in: daemon)
        }
    }

    private static func offline(_ source: String, in daemon: Daemon) async throws(ControlError) -> String {
        guard let asset = try await daemon.client.assets(isBrief: true).first(where: { $0.url == source }) else {
            throw ControlError(
                .noSuchAsset, "nothing is stored of \(source)", next: "weir get URL, while there is a network")
        }
        return daemon.urls.offlineAsset(named: asset.name)
    }
}
