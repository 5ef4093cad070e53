import API
import Application
import ArgumentParser

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

    @Flag(help: "End with 69 unless Weir answers there; needs no token.")
    var check = false

    @Flag(help: "One for another machine on the network, with the token that it needs.")
    var lan = false

    @Flag(name: .customLong("qr"), help: "Draw it as a QR code as well; needs qrencode.")
    var isDrawn = false

    @OptionGroup var common: CommonOptions

    func validate() throws { _ = try manner }

    private var manner: Entry.Manner { get throws { try .init(offline: offline, local: local, auto: auto) } }

    func run() async throws {
        try await reporting(common) {
            let daemon = try common.daemon()
            if check { try await daemon.client.findDaemon(at: daemon.base) }
            let urls = lan ? PlayerURL(base: try await daemon.client.lan().url) : daemon.urls
            let url = try await Entry(source, try manner, in: daemon, urls).url
            Output.line(url)
            guard isDrawn else { return }
            guard let picture = QRCode.lines(of: url) else {
                throw Failure(
                    "it cannot be drawn: qrencode is not installed, or the URL is too long for it",
                    next: "apt install qrencode", exitCode: 69, code: "no-program")
            }
            Output.line(picture)
        }
    }
}

/// The kind of URL for a player.
struct Entry {
    let url: String

    /// The kind of session.
    enum Manner {
        case usual
        case offline
        case local
        case auto

        /// The kind that the options choose. Throws if there is more than one.
        init(offline: Bool, local: Bool, auto: Bool) throws {
            let wanted = [(offline, Self.offline), (local, .local), (auto, .auto)].filter(\.0).map(\.1)
            if wanted.count > 1 { throw ValidationError("--offline, --local and --auto exclude each other") }
            self = wanted.first ?? .usual
        }
    }

    /// Finds the URL for a name or an origin URL. A name must exist, and so must the asset of an origin URL that is to
    /// play offline.
    init(
        _ source: String, _ manner: Manner, in daemon: Daemon, _ base: PlayerURL? = nil
    ) async throws(APIError) {
        let urls = base ?? daemon.urls
        let isURL = PlayerURL.isURL(source)
        let word = isURL ? source : try await daemon.client.asset(named: source).name
        switch manner {
        case .usual: url = urls.entry(word)
        case .local: url = urls.localEntry(word)
        case .auto: url = urls.adaptiveEntry(word)
        case .offline where !isURL: url = urls.offlineAsset(named: word)
        case .offline: url = try await Self.offline(source, in: daemon, urls)
        }
    }

    private static func offline(
        _ source: String, in daemon: Daemon, _ urls: PlayerURL
    ) async throws(APIError) -> String {
        guard let asset = try await daemon.client.assets(isBrief: true).first(where: { $0.url == source }) else {
            throw APIError(
                .noSuchAsset, "nothing is stored of \(source)", next: "weir get URL, while there is a network")
        }
        return urls.offlineAsset(named: asset.name)
    }
}
