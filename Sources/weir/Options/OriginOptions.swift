import ArgumentParser
import Daemon
import WeirAPI

/// The options that describe the way to an origin. Every command that reaches one has them.
///
/// They are no groups of options within this one: a debug build of the parser checks such a group dozens of times, at each start.
struct OriginOptions: ParsableArguments {
    /// The title in the help of commands.
    static let title = "The way to the origin"

    @Option(
        help: ArgumentHelp(
            """
            A file with a curl command, or - for standard input: a browser's "Copy as cURL (bash)" of the playlist's request, whose \
            URL, header fields and cookies are used. It may also be pasted behind --: weir get -- curl URL -H 'Name: value'
            """, valueName: "file"))
    var curl: String?
    @Option(
        help: ArgumentHelp(
            """
            A header field for the host of the URL, such as 'X-Api-Key: k'. Hosts that the playlists name get Referer, Origin, \
            User-Agent, Accept*, Sec-*, DNT, X-Requested-With, Cache-Control and Pragma as well. May be repeated. @FILE reads \
            fields from a file, and - from standard input, one a line: other users see neither. An empty text removes all \
            fields of a known asset.
            """, valueName: "name: value"))
    var header: [String] = []
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A header field for another host, as two arguments: --header-for cdn.example.com 'X-Api-Key: k'. '*.example.com' means \
            all hosts below example.com, and '*' every host. Without a port it goes to the default ports of http and https. \
            May be repeated.
            """, valueName: "host> <name: value"))
    var headerFor: [String] = []
    @Option(
        help: ArgumentHelp(
            """
            A file with cookies in Netscape's format, as yt-dlp, curl and browsers' extensions write it. Weir keeps only those \
            for the hosts of this asset, and sends each only where its domain and path allow.
            """, valueName: "file"))
    var cookies: String?
    @Option(
        help: ArgumentHelp(
            """
            Take the cookies for the URL's site from this browser: firefox, or firefox:PROFILE with the name or the folder of a profile. \
            Those of private windows and containers are left out.
            """, valueName: "browser"))
    var cookiesFromBrowser: String?
    @Option(
        help: ArgumentHelp(
            """
            The proxy for this asset: http://HOST:PORT, or https, socks4a, socks5 or socks5h, with USER:PASSWORD@ if needed; \
            direct for none. @FILE reads it from a file, which hides the password from other users.
            """, valueName: "url"))
    var proxy: String?
    @Option(
        help: ArgumentHelp(
            """
            A host that may be private although the URL does not name it: a name, an address or a network such as \
            192.168.0.0/16, with a port or without. May be repeated.
            """, valueName: "host"))
    var allowHost: [String] = []
    @Flag(
        inversion: .prefixedNo,
        help: """
            Do not verify the certificates of this asset's servers: anyone on the way can change the media. It stays so until \
            --no-insecure.
            """)
    var insecure: Bool?
    @Option(
        help: ArgumentHelp(
            "A client certificate in PEM, for a server that requires one. It goes to the host of the URL alone.",
            valueName: "file"))
    var cert: String?
    @Option(help: ArgumentHelp("The key of --cert, if it is in another file.", valueName: "file"))
    var key: String?
    @Option(
        help: ArgumentHelp(
            "Another host that --cert goes to: as for --header-for. May be repeated.", valueName: "host"))
    var certFor: [String] = []

    var paste: PasteOptions { PasteOptions(curl: curl) }
    var headers: HeaderOptions { HeaderOptions(header: header, headerFor: headerFor) }
    var cookieSource: CookieOptions { CookieOptions(cookies: cookies, browser: cookiesFromBrowser) }
    var route: RouteOptions {
        RouteOptions(
            proxy: proxy, allowHost: allowHost, insecure: insecure, cert: cert, key: key, certFor: certFor)
    }

    func validate() throws {
        try headers.validate()
        try cookieSource.validate()
        try route.validate()
    }

    /// True if an option was given.
    var areGiven: Bool {
        curl != nil || headers.areGiven || cookieSource.areGiven || route.change != nil
    }

    /// Throws `ValidationError` unless the words of a command line or `--curl` give a source, but not both.
    func check(_ words: [String]) throws {
        try paste.check(words)
        guard !words.isEmpty || curl != nil else { throw ValidationError("Give a URL or a name.") }
    }

    /// The source among the words, or in a pasted command, with the way to its origin.
    func order(for words: [String]) throws -> API.PresentationRequest {
        let pasted = try paste.order(words)
        let named = words.first ?? ""
        let word = SourceWord(pasted?.source ?? named)
        let source = word.source
        var order = API.PresentationRequest(source: source)
        order.headers = try headers.fields
        if !word.fields.isEmpty {
            // An option goes before what came with the URL.
            let given = order.headers ?? []
            let names = given.filter { $0.host == nil }.map { $0.name.lowercased() }
            order.headers = given + word.fields.filter { !names.contains($0.name.lowercased()) }
        }
        if !source.isEmpty {
            order.cookies = try cookieSource.lines(for: source)
        }
        order.route = route.change
        pasted?.complete(&order)
        return order
    }

    /// As `order(for:)`, where a word may be the name of an asset, whose URL only the daemon knows: cookies are chosen by it.
    func order(for words: [String], in client: APIClient) async throws -> API.PresentationRequest {
        guard cookieSource.areGiven, let name = words.first, !PlayerURL.isURL(name), curl == nil,
            !CurlOrder.isMeant(by: words)
        else { return try order(for: words) }
        let asset = try await client.call(Endpoints.asset, name)
        var order = try order(for: [asset.url])
        order.source = name
        return order
    }

    /// Gives the way to the daemon, so that a player need not know it. Returns the source without its password.
    func apply(_ order: API.PresentationRequest, in daemon: DaemonHandle) async throws -> String {
        route.warn()
        let plain = PlayerURL.withoutPassword(order.source)
        if plain != order.source || order.hasWay {
            _ = try await daemon.client.call(Endpoints.open, body: order)
        }
        return plain
    }

    /// Changes the way of a known asset, if an option was given, before a command uses it. Returns the name or URL of the
    /// asset.
    func change(ofAsset words: [String], in client: APIClient) async throws -> String {
        let order = try await order(for: words, in: client)
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

    func check(_ task: TaskOptions) throws {
        if withAudio != nil, task.record {
            throw ValidationError("--with-audio and --record exclude each other.")
        }
    }

    /// The order for the film that the two playlists are; without the option the order as it is.
    ///
    /// Opens the film, since only the origin shows if the URL names its own qualities and sound.
    func joined(_ order: API.PresentationRequest, in client: APIClient) async throws -> API.PresentationRequest {
        guard let withAudio else { return order }
        var pair = order
        pair.audio = withAudio
        let opened = try await client.call(Endpoints.open, body: pair)
        guard opened.tracks.variants.count == 1, opened.tracks.audio.count == 1 else {
            throw CommandFailure(
                "\(opened.url) names its own qualities and sound, and takes no other: --with-audio is for two media playlists",
                next: "weir get \(CommandFailure.quoted(opened.url))", exitCode: 65,
                code: APIError.Code.badRequest.rawValue)
        }
        // Its way to the origin is known by now.
        return API.PresentationRequest(source: opened.name ?? order.source)
    }
}

extension API.PresentationRequest {
    /// True if it says more than the source.
    var hasWay: Bool { self != API.PresentationRequest(source: source) }
}
