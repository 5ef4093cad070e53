import API
import ArgumentParser
import Foundation

/// The options for the way to the origin of one asset. They stay with the asset.
struct RouteOptions: ParsableArguments {
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
    @Option(help: ArgumentHelp("A client certificate in PEM, for a server that requires one.", valueName: "file"))
    var cert: String?
    @Option(help: ArgumentHelp("The key of --cert, if it is in another file.", valueName: "file"))
    var key: String?

    func validate() throws {
        if key != nil, cert == nil { throw ValidationError("--key requires --cert.") }
        _ = try proxyURL
    }

    private var proxyURL: String? { get throws { try proxy.flatMap { try SecretLines.of($0, "--proxy").first } } }

    /// The change for the daemon; nil without these options. Warns of `--insecure`.
    var change: API.Route? {
        var route = API.Route()
        // An unreadable file is refused by `validate`.
        route.proxy = try? proxyURL
        route.allowHosts = allowHost.isEmpty ? nil : allowHost
        route.insecure = insecure
        route.certificate = cert.map(DiskPath.absolute)
        route.key = key.map(DiskPath.absolute)
        return route == API.Route() ? nil : route
    }

    /// Says on standard error what `--insecure` means.
    func warn() {
        guard insecure == true else { return }
        Output.error(
            "warning: the certificates of this asset's servers are not verified, now and later: anyone on the way can read "
                + "and change what is fetched\n")
    }
}
