internal import EventLoop
internal import Glibc
internal import Origin

/// Checks of the machine's programs and limits, and of players.
extension Doctor {
    var localhostFinding: Finding {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo("localhost", nil, &hints, &found)
        defer { if found != nil { freeaddrinfo(found) } }
        let mend = "put into /etc/hosts: 127.0.0.1 localhost"
        guard code == 0 else {
            return .fault(
                "localhost", "players do not find it: \(String(cString: gai_strerror(code)))", next: mend)
        }
        var addresses: [String] = []
        var next = found
        while let entry = next?.pointee {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            getnameinfo(
                entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if !addresses.contains(address) { addresses.append(address) }
            next = entry.ai_next
        }
        let foreign = addresses.filter { $0 != "::1" && !$0.hasPrefix("127.") }
        guard foreign.isEmpty else {
            return .fault("localhost", "it leads players to \(foreign.joined(separator: ", "))", next: mend)
        }
        return .ok("localhost", "it leads to \(addresses.joined(separator: " and "))")
    }

    func programFindings() -> [Finding] {
        let wish = configuration.player
        let players = wish.isEmpty ? ["mpv", "vlc", "ffplay"] : [wish]
        let player = players.lazy.compactMap(path).first
        let missing = "there is no \(players.joined(separator: ", "))"
        return [
            path(of: "ffmpeg").map { .ok("ffmpeg", $0) }
                ?? .warning("ffmpeg", "it is not there: no export to .mp4 and .mkv", next: "apt install ffmpeg"),
            player.map { .ok("player", $0) }
                ?? (wish.isEmpty
                    ? .warning("player", "\(missing): \"weir play\" has nothing to start", next: "apt install mpv")
                    : .fault("player", "\(missing), which \"weir play\" is to start", next: "correct the key player")),
        ]
    }

    private func path(of program: String) -> String? {
        if program.contains("/") { return access(program, X_OK) == 0 ? program : nil }
        let folders = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        return folders.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    func libraryFindings() -> [Finding] {
        let curl = OriginClient.library
        let loop = Finding.ok("libevent", EventLoop.library)
        guard curl.hasTLS else {
            return [
                .fault("libcurl", "\(curl.version) has no https", next: "install libcurl4, which has"), loop,
            ]
        }
        guard curl.isAsynchronous else {
            return [
                .warning(
                    "libcurl", "\(curl.version) waits for name servers, and everything with it",
                    next: "install libcurl4, which does not"), loop,
            ]
        }
        return [.ok("libcurl", curl.version), loop]
    }

    /// Enough for 256 connections with a file each, and for downloads.
    private static let descriptorsWanted = 1024

    var descriptorFinding: Finding {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return .ok("descriptors", "the system does not tell their limit")
        }
        guard limit.rlim_cur < Self.descriptorsWanted else {
            return .ok("descriptors", "a process may have \(limit.rlim_cur)")
        }
        return .warning(
            "descriptors", "a process may have \(limit.rlim_cur); with many players, some are turned away",
            next: "ulimit -n 8192, before weir serve")
    }

    /// Warns of a proxy. Weir connects to origins directly, but players may send even local requests to a proxy.
    func proxyFindings() -> [Finding] {
        let names = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"].filter {
            !(environment[$0] ?? "").isEmpty
        }
        guard let name = names.first else { return [.ok("proxies", "players are sent to none")] }
        let exceptions = (environment["no_proxy"] ?? environment["NO_PROXY"] ?? "").split(separator: ",")
            .map { String($0.drop { $0 == " " || $0 == "." }) }
        guard exceptions.contains("*") || exceptions.contains("localhost") else {
            return [
                .warning(
                    "proxies", "\(name) is set: players ask that for localhost, too, and Weir itself asks no proxy",
                    next: "export no_proxy=localhost,127.0.0.1,::1")
            ]
        }
        return [.ok("proxies", "\(name) is set, but not for localhost; Weir itself asks no proxy")]
    }
}
