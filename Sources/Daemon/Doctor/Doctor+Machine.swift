internal import EventLoop
internal import FoundationEssentials
internal import Glibc
internal import Origin

/// Checks of the machine's programs and limits, and of players.
extension Doctor {
    var localhostFinding: Finding {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo("localhost", nil, &hints, &found)
        defer {
            if found != nil {
                freeaddrinfo(found)
            }
        }
        let fix = "add to /etc/hosts: 127.0.0.1 localhost"
        guard code == 0 else {
            return .fault("localhost", "it cannot be resolved: \(String(cString: gai_strerror(code)))", next: fix)
        }
        var addresses: [String] = []
        var next = found
        while let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            getnameinfo(entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if !addresses.contains(address) {
                addresses.append(address)
            }
            next = entry.ai_next
        }
        let foreign = addresses.filter { $0 != "::1" && !$0.hasPrefix("127.") }
        guard foreign.isEmpty else {
            return .fault("localhost", "it resolves to \(foreign.joined(separator: ", "))", next: fix)
        }
        return .ok("localhost", "it resolves to \(addresses.joined(separator: " and "))")
    }

    func programFindings() -> [Finding] {
        [exportFinding, playerFinding]
    }

    private var exportFinding: Finding {
        guard let program = path(of: "ffmpeg") else {
            return .warning("ffmpeg", "not installed: no export to .mp4 and .mkv", next: "apt install ffmpeg")
        }
        return .ok("ffmpeg", program)
    }

    private var playerFinding: Finding {
        var players = ["mpv", "vlc", "ffplay"]
        let isChosen = !configuration.player.isEmpty
        if isChosen {
            players = [configuration.player]
        }
        if let player = players.lazy.compactMap(path).first {
            return .ok("player", player)
        }
        let missing = "not installed: \(players.joined(separator: ", "))"
        guard isChosen else {
            return .warning("player", "\(missing): \"weir play\" needs one of them", next: "apt install mpv")
        }
        return .fault("player", "\(missing), the player of \"weir play\"", next: "correct the key player")
    }

    func path(of program: String) -> String? {
        if program.contains("/") {
            guard access(program, X_OK) == 0 else { return nil }
            return program
        }
        let folders = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    func libraryFindings() -> [Finding] {
        let curl = OriginClient.library
        let loop = Finding.ok("libevent", LoopThread.library)
        guard curl.hasTLS else {
            return [
                .fault("libcurl", "\(curl.version) has no https", next: "install libcurl4 with https"), loop,
            ]
        }
        guard curl.isAsynchronous else {
            return [
                .warning(
                    "libcurl", "\(curl.version) blocks the daemon while it waits for a name server",
                    next: "install libcurl4 with an asynchronous resolver"), loop,
            ]
        }
        return [.ok("libcurl", curl.version), loop]
    }

    /// Enough for 256 connections with a file each, and for downloads.
    private static let descriptorsWanted = 1024

    var descriptorFinding: Finding {
        guard let limit = DescriptorLimit.current?.hard else { return .ok("descriptors", "their limit is not known") }
        guard limit < Self.descriptorsWanted else { return .ok("descriptors", "a process may have \(limit)") }
        return .warning(
            "descriptors", "a process may have \(limit); with many players, some wait",
            next: "as root: ulimit -n 8192, before weir serve")
    }
}

/// Checks of the systemd units, if they are installed.
extension Doctor {
    func unitFindings() -> [Finding] {
        let home = Configuration.home(environment)
        let own = environment.absolutePath(inVariable: "XDG_CONFIG_HOME") ?? home + "/.config"
        let user = ["\(own)/systemd/user", "/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user"]
        let system = ["/etc/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system"]
        var findings: [Finding] = []
        for (folders, command) in [(user, "systemctl --user"), (system, "systemctl")] {
            for name in ["weir.service", "weir.socket"] {
                guard let path = folders.map({ "\($0)/\(name)" }).first(where: exists) else { continue }
                findings.append(finding(unit: path, command))
            }
        }
        guard findings.isEmpty else { return findings }
        return [.ok("units", "no systemd unit is installed: the first command starts Weir, which \(end)")]
    }

    /// When a daemon in the background ends.
    private var end: String {
        guard let idleExit = configuration.idleExit else { return "runs until weir stop" }
        return "ends after \(TimeSpan.text(idleExit)) without work"
    }

    private func finding(unit path: String, _ command: String) -> Finding {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let again = "correct \(path), then: \(command) daemon-reload"
        for line in text.split(separator: "\n") {
            if let value = value(of: "ExecStart", line), let program = value.split(separator: " ").first,
                access(String(program.drop { "@-:+!".contains($0) }), X_OK) != 0
            {
                return .fault("units", "\(path) starts \(program), which does not exist", next: again)
            }
            if let value = value(of: "ListenStream", line) {
                do {
                    _ = try ListenAddress(String(value))
                } catch {
                    return .fault("units", "\(path): \(error.sentence)", next: again)
                }
            }
        }
        return .ok("units", path)
    }

    private func value(of key: String, _ line: Substring) -> Substring? {
        guard line.hasPrefix(key + "=") else { return nil }
        return line.dropFirst(key.count + 1)
    }
}
