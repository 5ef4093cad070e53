package import EventLoop
import Glibc
package import HTTPMessage
package import Origin
package import WeirAPI

/// The URL and the header fields of a request to the API. A user name and password in the URL become a field.
package struct OriginOrder {
    package let url: WebURL
    /// Nil if the request has none, so that an asset keeps its fields.
    package let fields: UserFields?
    private let change: API.Route?

    @LoopActor package init(
        _ text: String, headers: [API.Header]?, route: API.Route? = nil
    ) throws(APIError) {
        change = route
        let split = UserInformation(splitting: text)
        url = try LibraryService.url(split.url)
        var lines = headers?.map(\.line)
        let isGiven = { (header: API.Header) in header.host == nil && header.name.lowercased() == "authorization" }
        if let field = split.field, !(headers ?? []).contains(where: isGiven) {
            lines = (lines ?? []) + ["\(field.name): \(field.value)"]
        }
        do {
            fields = try lines.map { lines throws(UserFields.Refusal) in try UserFields(lines) }
        } catch {
            throw APIError(.badRequest, error.description)
        }
    }

    /// The way to the origin after the request's change of `former`; nil if the request has none.
    package func route(from former: OriginRoute) throws(APIError) -> OriginRoute? {
        guard let change else { return nil }
        var route = former
        do throws(RouteRefusal) {
            if let proxy = change.proxy {
                route.proxy = nil
                if !proxy.isEmpty {
                    route.proxy = try ProxyChoice(proxy)
                }
            }
            if let hosts = change.allowHosts {
                route.allowedHosts = []
                for host in hosts {
                    route.allowedHosts.append(try AllowedHost(host))
                }
            }
        } catch {
            throw APIError(.badRequest, error.description)
        }
        if let insecure = change.insecure {
            route.isInsecure = insecure
        }
        if let certificate = change.certificate {
            route.certificate = certificate.nonEmpty
            route.key = nil
            route.certificateHosts = []
        }
        if let hosts = change.certificateHosts {
            route.certificateHosts = try Self.certificateHosts(hosts)
        }
        if let key = change.key {
            route.key = key.nonEmpty
        }
        for path in [route.certificate, route.key].compactMap(\.self) where access(path, R_OK) != 0 {
            throw APIError(
                .badRequest, "\(path) cannot be read: \(String(cString: strerror(errno)))",
                next: "give a file that the daemon can read with --cert and --key")
        }
        return route
    }

    private static func certificateHosts(_ texts: [String]) throws(APIError) -> [FieldHost] {
        var hosts: [FieldHost] = []
        for text in texts {
            guard let host = FieldHost(text) else {
                throw APIError(
                    .badRequest, "\"\(text)\" is not a host for a client certificate",
                    next: "give a name or an address, with a port or without, or *.site, or *")
            }
            hosts.append(host)
        }
        return hosts
    }
}
