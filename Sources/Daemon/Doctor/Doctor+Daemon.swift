internal import Control
internal import Glibc
internal import HTTPServer
import Orders
internal import WeirAPI

/// Checks of the daemon and its addresses.
extension Doctor {
    var state: StateDirectory { StateDirectory(configuration.state) }

    func daemonFindings() async -> [Finding] {
        var running: String?
        var findings: [Finding] = []
        if let url = state.daemonURL {
            if let trouble = await trouble(at: url) {
                findings.append(.warning("daemon", "it was listening on \(url), but \(trouble)", next: "weir serve"))
            } else {
                running = url
                findings.append(await ownDaemonFinding(url))
                if let finding = await loopFinding(url) {
                    findings.append(finding)
                }
            }
        } else {
            findings.append(
                .warning("daemon", "no daemon runs with the state folder \(state.path)", next: "weir serve"))
        }
        for address in configuration.listen where address.port != 0 && "http://\(address)" != running {
            findings.append(await addressFinding(address, isRunning: running != nil))
        }
        return findings + (await networkFindings(running: running))
    }

    var usersFinding: Finding {
        guard OwnerRule.isEnforceable else {
            return .warning(
                "users",
                "the kernel does not report whose connections are: every user of this machine may play, and the link of weir page ends with the daemon",
                next: "modprobe tcp_diag; in a container, allow sockets of the family AF_NETLINK")
        }
        let count = configuration.users.count
        let owners = count == 0 ? "this user and root" : "this user, root and \(count) of the key users"
        let rest = configuration.otherUsers == .play ? "may play" : "may do nothing"
        return .ok("users", "\(owners) may do everything; others of this machine \(rest)")
    }

    /// The reason why a listener is not Weir; nil if it is.
    private func trouble(at url: String) async -> String? {
        do {
            try await APIClient(state: state).findDaemon(at: url)
            return nil
        } catch {
            return error.message
        }
    }

    private func ownDaemonFinding(_ url: String) async -> Finding {
        do {
            let mode = try await APIClient(state: state).call(Endpoints.mode)
            return .ok("daemon", "it answers at \(url), in mode \(mode.mode.rawValue)")
        } catch {
            return .fault("daemon", "\(url): \(error.message)", next: error.next ?? "end it, and start: weir serve")
        }
    }

    /// How long the daemon's loop made others wait since its start; nil if the daemon does not say.
    private func loopFinding(_ url: String) async -> Finding? {
        guard let text = try? await APIClient(state: state).metrics(at: url), let turns = LoopTurns(text) else {
            return nil
        }
        var most = "more than 10 s"
        if let usual = turns.usual {
            most = "\(Int(usual * 1000)) ms"
        }
        let message =
            "99 of 100 requests waited at most \(most) for the event loop, and none longer than \(turns.longestWords)"
        guard turns.usual ?? .infinity > LoopTurns.largest else { return .ok("loop", message) }
        return .warning(
            "loop", message, next: "look which playlists were played, and report it with: weir doctor --json")
    }

    private func addressFinding(_ address: ListenAddress, isRunning: Bool) async -> Finding {
        switch Self.bindingError(address) {
        case 0:
            guard isRunning else { return .ok("address", "\(address) is free") }
            return .ok("address", "the running daemon does not listen on \(address)")
        case EADDRINUSE:
            if await trouble(at: "http://\(address)") == nil {
                guard !isRunning else { return .ok("address", "Weir answers at \(address)") }
                let other = ListenAddress(host: address.host, port: 0)
                return .warning(
                    "address", "another Weir, with another state folder, uses \(address)",
                    next: "use that daemon, or another port: weir serve --listen \(other)")
            }
            if configuration.listenIsDefault, OwnPort.isTaken(address) {
                return .ok("address", "another user of this machine has \(address); Weir takes a port of its own")
            }
            return .fault(
                "address", "another program uses \(address)",
                next: "ss -ltnp 'sport = :\(address.port)' shows it; or use another port: weir serve --listen "
                    + "\(ListenAddress(host: address.host, port: 0))")
        case EADDRNOTAVAIL where configuration.listenIsDefault, EAFNOSUPPORT where configuration.listenIsDefault:
            return .ok("address", "this machine has no \(address.host); Weir does not need it")
        case let number:
            return .fault(
                "address", "Weir cannot listen on \(address): \(String(cString: strerror(number)))",
                next: "weir serve --listen 127.0.0.1:\(ListenAddress.standardPort)")
        }
    }

    /// Returns the errno of bind(2) and listen(2) for an address, or 0. Nothing accepts connections on the test socket.
    static func bindingError(_ address: ListenAddress) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0, let first = found else {
            return EADDRNOTAVAIL
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(first.pointee.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0 else { return errno }
        guard listen(descriptor, 1) == 0 else { return errno }
        return 0
    }
}
