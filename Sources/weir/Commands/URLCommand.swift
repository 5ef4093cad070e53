import ArgumentParser
import Daemon
import Orders
import WeirAPI

struct URLCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "url", abstract: "Print the URL for a player.",
        discussion: """
            Without the options of a selection the URL lists all tracks. With them it lists only the chosen ones.
            """)

    @Argument(
        help: ArgumentHelp("The name of an asset, or any HLS URL.", valueName: "name|url"), completion: .assetNames)
    var source: String?
    @Flag var view: EntryView?
    @Flag(help: "Exit with 69 unless Weir answers at the address; needs no token, and starts no daemon.")
    var check = false
    @Flag(help: "A URL for another machine on the network, with the required token.")
    var lan = false
    @Flag(name: .customLong("qr"), help: "Also draw the URL as a QR code; needs qrencode.")
    var isDrawn = false
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup var audio: AudioPlaylistOptions
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try origin.check(words)
        try EntryView.check(view, selection)
    }

    private var words: [String] { [source].compactMap(\.self) }

    func execute() async throws {
        let daemon = try common.daemon(starts: !check)
        if check {
            try await daemon.client.findDaemon(at: daemon.base)
        } else {
            // The player finds a daemon at the URL.
            try await daemon.ensure()
        }

        var order = try await origin.order(for: words, in: daemon.client)
        order.audio = audio.withAudio
        var urls = daemon.urls
        if lan {
            urls = PlayerURL(base: try await daemon.client.call(Endpoints.lan).url)
        }

        let source = try await origin.apply(order, in: daemon)
        let url = try await Entry(source, view, choosing: selection.given, in: daemon, at: urls).url
        Output.record(url)

        guard isDrawn else { return }
        guard let picture = QRCode.lines(of: url) else {
            throw CommandFailure(
                "no QR code: qrencode is not installed, or the URL is too long",
                next: "apt install qrencode", exitCode: 69, code: "no-program")
        }
        Output.verbatim(picture + "\n")
    }
}

/// The views of an asset, each with a URL of its own. Without one, a player gets all tracks.
enum EntryView: String, EnumerableFlag {
    case offline
    case local
    case auto
    case timeshift

    static func help(for view: EntryView) -> ArgumentHelp? {
        switch view {
        case .offline: "Never use the network."
        case .local: "List only complete renditions, if there are any."
        case .auto: "List one variant whose quality Weir adapts to the network, for a player that cannot."
        case .timeshift: "Begin a live stream with the earliest that is kept of it; players can seek in all of that."
        }
    }

    /// Throws if a selection contradicts the view.
    static func check(_ view: EntryView?, _ selection: SelectionOptions) throws(ValidationError) {
        guard view != .auto || selection.given.isEmpty else {
            throw ValidationError("--auto lets Weir choose the quality: give it without the options of a selection")
        }
    }
}

/// The URL of an asset for a player.
struct Entry {
    let url: String
    /// The title of an asset that the source names; nil without one, and for an origin URL.
    let title: String?

    /// Finds the URL for a name or an origin URL. A name must exist, and so must the asset of an origin URL that is to
    /// play offline. An origin URL whose download is complete in the best quality plays by its name: players open each variant that
    /// they see, and would wait for those that are not stored.
    init(
        _ source: String, _ view: EntryView?, choosing choice: [(key: Selection.Key, values: [String])],
        in daemon: DaemonHandle,
        at base: PlayerURL? = nil
    ) async throws(APIError) {
        let urls = (base ?? daemon.urls).choosing(choice)
        let isURL = PlayerURL.isURL(source)
        try LocalFile.refuse(source)

        var asset: API.Asset?
        if !isURL {
            asset = try await daemon.client.call(Endpoints.asset, source)
        } else if view == nil, choice.isEmpty {
            let known = try? await daemon.client.call(Endpoints.asset, source)
            if known?.hasItsBest == true {
                asset = known
            }
        }

        let word = asset?.name ?? source
        title = asset?.title
        switch view {
        case nil: url = urls.entry(word)
        case let view? where view != .offline || !isURL: url = urls.entry(word, in: view.rawValue)
        case _?: url = try await Self.offline(source, in: daemon, urls)
        }
    }

    private static func offline(
        _ source: String, in daemon: DaemonHandle, _ urls: PlayerURL
    ) async throws(APIError) -> String {
        guard let asset = try await daemon.client.assets(isBrief: true).first(where: { $0.url == source }) else {
            throw APIError(
                .noSuchAsset, "nothing of \(source) is stored", next: "weir get URL, while the network is available")
        }
        return urls.offlineAsset(named: asset.name)
    }
}

extension API.Asset {
    /// True if a download is complete, has the whole time of the best variant, and is of the origin's present content.
    fileprivate var hasItsBest: Bool {
        let rank: (API.Variant) -> (Int, Int) = { variant in
            let bandwidth = variant.bandwidth ?? 0
            let height = variant.height ?? 0
            return (bandwidth, height)
        }
        let best = tracks.variants.max { rank($0) < rank($1) }
        return state == .saved && hasChanged != true && ranges == nil && !isLive && best?.isComplete == true
    }
}
