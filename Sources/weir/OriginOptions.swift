import API
import ArgumentParser

/// The options that describe the way to an origin. Every command that reaches one has them.
struct OriginOptions: ParsableArguments {
    /// The title in the help of commands.
    static let title = "The way to the origin"

    @OptionGroup var paste: PasteOptions
    @OptionGroup var headers: HeaderOptions
    @OptionGroup var cookies: CookieOptions
    @OptionGroup var route: RouteOptions

    /// True if an option was given.
    var areGiven: Bool {
        paste.curl != nil || headers.areGiven || cookies.cookies != nil || route.change != nil
    }

    /// Throws `ValidationError` unless the words of a command line or `--curl` give a source, but not both.
    func check(_ words: [String]) throws {
        try paste.check(words)
        guard !words.isEmpty || paste.curl != nil else { throw ValidationError("Give a URL or a name.") }
    }

    /// The source among the words, or in a pasted command, with the way to its origin.
    func order(for words: [String]) throws -> API.PresentationRequest {
        let pasted = try paste.order(words)
        let source = pasted?.source ?? words.first ?? ""
        var order = API.PresentationRequest(source: source)
        order.headers = try headers.fields
        order.cookies = source.isEmpty ? nil : try cookies.lines(for: source)
        order.route = route.change
        pasted?.complete(&order)
        return order
    }

    /// Gives the way to the daemon, so that a player need not know it. Returns the source without its password.
    func apply(_ order: API.PresentationRequest, in daemon: Daemon) async throws -> String {
        route.warn()
        let plain = PlayerURL.withoutPassword(order.source)
        if plain != order.source || order.hasWay { _ = try await daemon.client.call(Endpoints.open, body: order) }
        return plain
    }

    /// Changes the way of a known asset, if an option was given, before a command uses it. Returns the name or URL of the
    /// asset.
    func change(ofAsset words: [String], in client: APIClient) async throws -> String {
        let order = try order(for: words)
        guard order.hasWay else { return order.source }
        route.warn()
        // Opening an unknown URL would add an asset.
        let name = try await client.call(Endpoints.asset, PlayerURL.withoutPassword(order.source)).name
        _ = try await client.call(Endpoints.open, body: order)
        return name
    }
}

/// The option for a presentation that an origin has in two playlists.
struct AudioPlaylistOptions: ParsableArguments {
    @Option(help: ArgumentHelp("An audio playlist to be played with the video playlist at the URL.", valueName: "url"))
    var withAudio: String?
}

extension API.PresentationRequest {
    /// True if it says more than the source.
    var hasWay: Bool { self != API.PresentationRequest(source: source) }
}
