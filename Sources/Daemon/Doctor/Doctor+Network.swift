internal import Control
internal import Glibc
internal import Origin
internal import WeirAPI

/// Checks of the address for the network.
extension Doctor {
    /// - Parameter running: the URL of the running daemon; nil if there is none.
    func networkFindings(running: String?) async -> [Finding] {
        var current: String?
        if running != nil {
            current = await self.current
        }
        guard let wish = configuration.lan else {
            if let current {
                return [.ok("lan", "other machines are admitted at \(current)", next: "weir url NAME --lan --qr")]
            }
            return [.ok("lan", "no other machine is admitted")]
        }

        let others = Self.machineAddresses.filter { !Self.isLocal($0) }
        var other = "\"ip addr\" shows the addresses of this machine"
        if let best = Self.best(of: others) {
            other = "weir serve --lan \(best)"
        }
        guard Self.isLoopback(wish.host) || Self.hasAddress(wish.host) else {
            var list = "it has \(others.joined(separator: ", "))"
            if others.isEmpty {
                list = "it has no address that other machines can reach"
            }
            return [.fault("lan", "\(wish.host) is not an address of this machine: \(list)", next: other)]
        }

        let address = ListenAddress(host: wish.host, port: port(for: wish, running: running))
        let reach = reachFinding(of: address, next: other)
        let listener = await listenerFinding(address, current: current, isRunning: running != nil)
        return [reach, listener].compactMap(\.self)
    }

    /// The port for other machines: that of the wish, else the running daemon's, else the first that is configured.
    private func port(for wish: NetworkAddress, running: String?) -> UInt16 {
        if let chosen = wish.port {
            return chosen
        }
        if let running, let used = ListenAddress.port(ofURL: running) {
            return used
        }
        return configuration.listen[0].port
    }

    /// Warns of an address that other machines cannot reach, or that the whole Internet can; nil for a good address.
    private func reachFinding(of address: ListenAddress, next: String) -> Finding? {
        if Self.isLoopback(address.host) {
            return .warning("lan", "\(address.host) is a loopback address: no other machine can reach it", next: next)
        }
        guard OriginClient.isPublic(address.host) ?? false else { return nil }
        return .warning(
            "lan",
            "\(address.host) is a public address: anyone with the URL can play from anywhere, without encryption",
            next: "use a firewall that admits only your network to port \(address.port), or: \(next)")
    }

    private func listenerFinding(_ address: ListenAddress, current: String?, isRunning: Bool) async -> Finding {
        let again = "end it, and start: weir serve --lan \(address)"
        if let current {
            guard current == "\(address)" || address.port == 0 else {
                return .warning(
                    "lan", "the running daemon admits other machines at \(current), not at \(address)", next: again)
            }
            return .ok("lan", "other machines are admitted at \(current)", next: "weir url NAME --lan --qr")
        }
        if isRunning {
            return .warning("lan", "the running daemon admits no other machine", next: again)
        }

        switch Self.bindingError(address) {
        case 0:
            guard address.port != 0 else { return .ok("lan", "Weir can listen on \(address.host)") }
            return .ok("lan", "\(address) is free")
        case EADDRINUSE:
            return .fault(
                "lan", "another program uses \(address)",
                next: "ss -ltnp 'sport = :\(address.port)' shows it; or use another port: weir serve --lan "
                    + "\(ListenAddress(host: address.host, port: address.port &+ 1))")
        case let number:
            return .fault(
                "lan", "Weir cannot listen on \(address): \(String(cString: strerror(number)))",
                next: "use another port or address: weir serve --lan ADDRESS:PORT")
        }
    }

    /// Network address of the running daemon, such as `192.168.1.5:8216`; nil without one.
    private var current: String? {
        get async {
            guard let url = try? await APIClient(state: state).call(Endpoints.lan).url else { return nil }
            return url.split(separator: "/").dropFirst().first.map(String.init)
        }
    }

    // MARK: Addresses

    /// The addresses of all interfaces that are up, without zones.
    private static var machineAddresses: [String] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }

        var literals: [String] = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let address = entry.ifa_addr, entry.ifa_flags & UInt32(IFF_UP) != 0,
                let literal = literal(address), !literals.contains(literal)
            else { continue }
            literals.append(literal)
        }
        return literals
    }

    private static func literal(_ address: UnsafePointer<sockaddr>) -> String? {
        let length: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: length = MemoryLayout<sockaddr_in>.size
        case AF_INET6: length = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }

        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else {
            return nil
        }
        let bytes = text.map { UInt8(bitPattern: $0) }
        // An interface's name follows a percent sign.
        let literal = bytes.prefix { $0 != 0 && $0 != UInt8(ascii: "%") }
        return String(decoding: literal, as: UTF8.self)
    }

    /// True if an interface has this address. Compares bytes, because an address has several text forms.
    private static func hasAddress(_ host: String) -> Bool {
        let wanted = bytes(host)
        return machineAddresses.contains { bytes($0) == wanted }
    }

    private static func bytes(_ literal: String) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16)
        let family = literal.contains(":") ? AF_INET6 : AF_INET
        inet_pton(family, literal, &bytes)
        return bytes
    }

    private static func isLoopback(_ literal: String) -> Bool {
        guard literal.contains(":") else { return literal.hasPrefix("127.") }
        return bytes(literal) == bytes("::1")
    }

    /// True if other machines cannot use an address: loopback, or link-local, which needs an interface's name.
    private static func isLocal(_ literal: String) -> Bool {
        if isLoopback(literal) {
            return true
        }
        // fe80::/10 (RFC 4291 §2.5.6).
        let bytes = bytes(literal)
        return literal.contains(":") && bytes[0] == 0xfe && bytes[1] & 0xc0 == 0x80
    }

    /// The best address to suggest: a private one, IPv4 before IPv6.
    private static func best(of literals: [String]) -> String? {
        let homes = literals.filter { !(OriginClient.isPublic($0) ?? true) }
        return homes.first { !$0.contains(":") } ?? homes.first
    }
}
