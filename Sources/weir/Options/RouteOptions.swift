import ArgumentParser
import Foundation
import WeirAPI

/// The options for the way to the origin of one asset. They stay with the asset.
struct RouteOptions {
    let proxy: String?
    let allowHost: [String]
    let insecure: Bool?
    let cert: String?
    let key: String?
    let certFor: [String]

    func validate() throws {
        if key != nil, cert == nil {
            throw ValidationError("--key requires --cert.")
        }
        if !certFor.isEmpty, cert == nil {
            throw ValidationError("--cert-for requires --cert.")
        }
        _ = try proxyURL
    }

    private var proxyURL: String? { get throws { try proxy.flatMap { try SecretLines.of($0, "--proxy").first } } }

    /// The change for the daemon; nil without these options. Warns of `--insecure`.
    var change: API.Route? {
        var route = API.Route()
        // An unreadable file is refused by `validate`.
        route.proxy = try? proxyURL
        if !allowHost.isEmpty {
            route.allowHosts = allowHost
        }
        route.insecure = insecure
        route.certificate = cert.map(DiskPath.absolute)
        route.key = key.map(DiskPath.absolute)
        if !certFor.isEmpty {
            route.certificateHosts = certFor
        }
        guard route != API.Route() else { return nil }
        return route
    }

    /// Says on standard error what `--insecure` means.
    func warn() {
        guard insecure == true else { return }
        Output.error(
            "warning: the certificates of this asset's servers are not verified, now and later: anyone on the way can read "
                + "and change what is fetched\n")
    }
}
