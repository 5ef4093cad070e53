internal import Glibc
internal import Origin

/// Checks of the way to origins: proxies, authorities, and answers of name servers.
extension Doctor {
    /// Shows the proxies that are in force. Players may send even local requests to a proxy.
    func proxyFindings() -> [Finding] {
        guard let summary = configuration.proxies.summary else {
            let direct = configuration.proxy == .direct ? "none is used, by the key proxy" : "none is set"
            return [.ok("proxies", direct)] + playerProxyFindings
        }
        if configuration.proxy != nil {
            return [.ok("proxies", "\(summary), by the key proxy")] + playerProxyFindings
        }
        // A service manager starts the daemon with an environment of its own.
        let message =
            "\(summary), by this shell's environment; a daemon that systemd starts as a service does not have it"
        return [.ok("proxies", message, next: "set the key proxy in \(file)")] + playerProxyFindings
    }

    private var playerProxyFindings: [Finding] {
        let names = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"].filter {
            !(environment[$0] ?? "").isEmpty
        }
        guard let name = names.first else { return [] }
        var exceptions: [String] = []
        if let list = environment["no_proxy"] ?? environment["NO_PROXY"] {
            exceptions = list.split(separator: ",").map { entry in
                String(entry.drop { $0 == " " || $0 == "." })
            }
        }
        guard exceptions.contains("*") || exceptions.contains("localhost") else {
            return [
                .warning(
                    "proxies",
                    "\(name) is set: players use it for localhost too, except those that \"weir play\" starts",
                    next: "export no_proxy=localhost,127.0.0.1,::1")
            ]
        }
        return []
    }

    /// Shows the authorities that are in force.
    func authorityFindings() -> [Finding] {
        let authorities = configuration.authorities
        let missing = (authorities.bundles + [authorities.file].compactMap(\.self) + authorities.folders).filter {
            access($0, R_OK) != 0
        }
        guard missing.isEmpty else {
            return [
                .warning(
                    "authorities", "\(missing.joined(separator: ", ")) cannot be read",
                    next: "correct \((authorities.variables + ["ca-file", "ca-folder"]).joined(separator: ", "))")
            ]
        }
        return [.ok("authorities", authorities.summary)]
    }

    /// Looks whether the programs of the handlers are there.
    func handlerFindings() -> [Finding] {
        configuration.handlers.map { rule in
            let name =
                switch rule.scope {
                case .scheme(let name): "\(name)://"
                case .pattern(let pattern): pattern
                }
            switch rule.target {
            case .server(let url): return .ok("handlers", "\(url) answers \(name)")
            case .program(let words):
                if path(of: words[0]) != nil {
                    return .ok("handlers", "\(words[0]) answers \(name)")
                }
                return .warning(
                    "handlers", "\(words[0]), which answers \(name), is not there or may not be run",
                    next: "correct the table [handlers] in \(file)")
            }
        }
    }

    /// A name that exists for such uses (RFC 2606).
    private static let exampleName = "example.com"

    /// Looks whether the name server answers with invented addresses, as some VPN clients do.
    func nameServerFindings() -> [Finding] {
        guard !configuration.offline else { return [] }
        return [Self.finding(ofAnswer: Self.addresses(of: Self.exampleName), allowed: configuration.allowedHosts)]
            .compactMap(\.self)
    }

    /// - Parameter answer: the addresses of a public name.
    static func finding(ofAnswer answer: [String], allowed: [AllowedHost]) -> Finding? {
        guard let invented = answer.first(where: { $0.hasPrefix("198.18.") || $0.hasPrefix("198.19.") }) else {
            return nil
        }
        guard !allowed.contains(where: { $0.description == "198.18.0.0/15" }) else {
            return .ok("names", "a VPN client answers with addresses in 198.18.0.0/15, which allow-hosts lists")
        }
        return .warning(
            "names",
            "public names lead to \(invented) here: a VPN client answers with addresses in 198.18.0.0/15, which Weir takes for "
                + "private", next: "set the key: allow-hosts = [\"198.18.0.0/15\"]")
    }

    private static func addresses(of name: String) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &found) == 0 else { return [] }
        defer { freeaddrinfo(found) }
        return sequence(first: found, next: { $0?.pointee.ai_next }).prefix { $0 != nil }.compactMap { entry in
            guard let entry else { return nil }
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}
