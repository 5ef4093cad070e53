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

        let machine = MachineAddresses.current
        var other = "\"ip addr\" shows the addresses of this machine"
        if let best = machine.best {
            other = "weir serve --lan \(best)"
        }
        guard let host = wish.literal(on: machine) else {
            return [.fault("lan", "\(wish) means no address now: \(Self.list(of: machine))", next: other)]
        }
        guard MachineAddresses.isLoopback(host) || machine.contains(host) else {
            return [.fault("lan", "\(host) is not an address of this machine: \(Self.list(of: machine))", next: other)]
        }

        let address = ListenAddress(host: host, port: port(for: wish, running: running))
        let reach = reachFinding(of: address, next: other)
        let listener = await listenerFinding(address, current: current, isRunning: running != nil)
        return [reach, listener].compactMap(\.self)
    }

    private static func list(of machine: MachineAddresses) -> String {
        let others = machine.literals.filter { !MachineAddresses.isLocal($0) }
        guard !others.isEmpty else { return "it has no address that other machines can reach" }
        return "it has \(others.joined(separator: ", "))"
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
        if MachineAddresses.isLoopback(address.host) {
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
}
