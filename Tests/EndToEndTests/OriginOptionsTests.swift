import Foundation
import TestSupport
import Testing

/// The options that describe the way to an origin, on each command that reaches one.
@Suite("The options for the way to an origin")
struct OriginOptionsTests {
    /// A way to an origin that refuses every other.
    enum Way: String, CaseIterable {
        case header
        case headerFor
        case cookies
        case curl
        case proxy
        case certificates
        case allowHost

        /// Options that take the way back from an asset. Without them, the gate is open while the asset becomes known.
        var undoing: [String]? {
            switch self {
            case .proxy: ["--proxy", "direct"]
            case .certificates: ["--no-insecure"]
            case .header, .headerFor, .cookies, .curl, .allowHost: nil
            }
        }
    }

    /// An nginx with the fixtures that, while it is shut, answers only requests with a secret.
    private struct Gate {
        let folder: TemporaryFolder
        let server: PlainServer
        let other: PlainServer
        let securePort: Int

        init() async throws {
            folder = try TemporaryFolder()
            securePort = try PlainServer.freePort()
            let made = try await ProcessRunner.run(
                "openssl",
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=127.0.0.1",
                    "-keyout", folder.path("key.pem"), "-out", folder.path("cert.pem"),
                ])
            #expect(made.exit == .code(0), "\(made.errors)")
            let recipe = """
                listen 127.0.0.1:\(securePort) ssl;
                ssl_certificate \(folder.path("cert.pem")); ssl_certificate_key \(folder.path("key.pem"));
                ssl_client_certificate \(folder.path("cert.pem")); ssl_verify_client optional;
                types { application/vnd.apple.mpegurl m3u8; video/mp2t ts; }
                set $shut "";
                if (-f \(folder.path("shut"))) { set $shut 1; }
                if ($http_x_key = k1) { set $shut ""; }
                if ($cookie_sid = c1) { set $shut ""; }
                if ($host = film.example) { set $shut ""; }
                if ($ssl_client_verify = SUCCESS) { set $shut ""; }
                if ($shut) { return 403; }
                rewrite ^/case-[^/]*/(.*)$ /$1;
                """
            server = try await PlainServer(root: Repository.path("fixtures/media"), recipe: recipe)
            other = try await PlainServer(
                root: folder.path("other"),
                recipe: "types { application/vnd.apple.mpegurl m3u8; } rewrite ^/case-[^/]*/(.*)$ /$1;")
            let variant = server.url("/ts/90p/media.m3u8")
            let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000\n\(variant)\n"
            try folder.write(Data(text.utf8), to: "other/ts/master.m3u8")
            try folder.write(Data("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tc1\n".utf8), to: "cookies.txt")
        }

        func shut() throws { try folder.write(Data(), to: "shut") }

        func open() throws { try FileManager.default.removeItem(atPath: folder.path("shut")) }

        private var host: String { server.url("/").replacing("http://", with: "").replacing("/", with: "") }

        /// The URL of a case's own asset.
        func url(_ way: Way, of name: String, _ fixture: String) -> String {
            let path = "/case-\(name)/\(fixture)/master.m3u8"
            return switch way {
            case .proxy: "http://film.example\(path)"
            case .certificates: "https://127.0.0.1:\(securePort)\(path)"
            case .allowHost: other.url(path)
            case .header, .headerFor, .cookies, .curl: server.url(path)
            }
        }

        func options(_ way: Way, _ url: String) throws -> [String] {
            switch way {
            case .header: return ["--header", "X-Key: k1"]
            case .headerFor: return ["--header-for", host, "X-Key: k1"]
            case .cookies: return ["--cookies", folder.path("cookies.txt")]
            case .curl:
                let name = "curl-\(UUID().uuidString)"
                return ["--curl", try folder.write(Data("curl '\(url)' -H 'X-Key: k1'".utf8), to: name)]
            case .proxy: return ["--proxy", String(server.url("/").dropLast())]
            case .certificates:
                return ["--insecure", "--cert", folder.path("cert.pem"), "--key", folder.path("key.pem")]
            case .allowHost: return ["--allow-host", host]
            }
        }
    }

    /// Runs a command; `weir check` knows no daemon.
    private func run(_ words: [String], _ weir: WeirProcess) async throws -> ProcessResult {
        let program = Repository.builtProgram("weir")
        let environment = ["http_proxy": "", "XDG_CONFIG_HOME": weir.state, "WEIR_STORE": ""]
        switch words[0] {
        case "check": return try await ProcessRunner.run(program, words, environment: environment)
        case "play":
            // The words behind -- are the player's.
            let line = [words[0], "--state", weir.state] + words.dropFirst()
            return try await ProcessRunner.run(program, line, environment: environment)
        default: return try await weir.run(words)
        }
    }

    /// The commands that take a URL, with their other words. A player that fetches the entry stands for any.
    private static let opening: [[String]] = [
        ["get", "-q", "worst"], ["add", "-q", "worst"], ["show"], ["cache", "--seconds", "1"], ["check"],
        ["play", "--player", "curl"], ["url"],
    ]

    @Test("reach an origin that requires them from each command that opens a URL", arguments: Way.allCases)
    func opens(way: Way) async throws {
        try await Scene.with { scene in
            let gate = try await Gate()
            if way != .allowHost {
                try gate.shut()
            }
            for command in Self.opening {
                let url = gate.url(way, of: command[0], "ts")
                let source = way == .curl ? [] : [url]
                let player = command[0] == "play" ? ["--", "-s", "-f", "-o", "/dev/null"] : []
                let refused = try await run(command + [url] + player, scene.weir)
                // A URL alone asks no origin, and an entry is served before its variants are fetched.
                let isAsked = command[0] != "url" && !(command[0] == "play" && way == .allowHost)
                if isAsked {
                    #expect(refused.exit != .code(0), "\(command) without \(way)")
                }
                let result = try await run(command + source + gate.options(way, url) + player, scene.weir)
                #expect(result.exit == .code(0), "\(command) with \(way): \(result)")
                guard command[0] == "url" else { continue }
                let line = result.output.trimmingCharacters(in: .newlines)
                #expect(try await HTTPProbe.fetch(line).status == 200, "\(way)")
            }
        }
    }

    @Test("change the way of an asset on each command that uses a known one", arguments: Way.allCases)
    func changes(way: Way) async throws {
        // No option takes an allowed host back.
        guard way != .allowHost else { return }
        try await Scene.with { scene in
            let gate = try await Gate()
            for command in ["set", "update", "verify", "keys", "resume", "cache"] {
                let fixture = command == "keys" ? "aes" : "ts"
                let url = gate.url(way, of: command, fixture)
                let first = way.undoing == nil ? [] : try gate.options(way, url)
                let name = "film-\(command)"
                let isPaused = command == "resume"
                let got = try await scene.weir.run(
                    [isPaused ? "add" : "get", url, "-q", "worst", "--name", name] + (isPaused ? ["--paused"] : [])
                        + (command == "cache" ? ["--range", "0-1"] : [])
                        + first)
                #expect(got.exit == .code(0), "\(command) \(way): \(got)")
                if let undoing = way.undoing {
                    #expect(try await scene.weir.run(["set", name] + undoing).exit == .code(0))
                }
                try gate.shut()
                try await check(command, name, url, way, gate, scene)
                try gate.open()
            }
        }
    }

    private func check(
        _ command: String, _ name: String, _ url: String, _ way: Way, _ gate: Gate, _ scene: Scene
    ) async throws {
        let options = try gate.options(way, url)
        let subject = way == .curl && command != "resume" ? [] : [name]
        switch command {
        case "resume":
            let result = try await scene.weir.run(["resume"] + subject + options)
            #expect(result.exit == .code(0), "\(way): \(result)")
            try await scene.waitForCompletion(of: name)
        case "set":
            #expect(try await scene.weir.run(["update", name]).exit != .code(0), "\(way)")
            #expect(try await scene.weir.run(["set"] + subject + options).exit == .code(0), "\(way)")
            let updated = try await scene.weir.run(["update", name])
            #expect(updated.exit == .code(0), "\(way): \(updated)")
        default:
            let more: [String] =
                switch command {
                case "verify": ["--repair"]
                case "keys": ["--renew"]
                case "cache": ["--seconds", "6"]
                default: []
                }
            if command == "verify" {
                try removePiece(of: try await id(of: name, scene), in: scene)
            }
            let refused = try await scene.weir.run([command, name] + more)
            #expect(refused.exit != .code(0), "\(command) without \(way): \(refused)")
            let result = try await scene.weir.run([command] + subject + options + more)
            #expect(result.exit == .code(0), "\(command) with \(way): \(result)")
        }
    }

    private func id(of name: String, _ scene: Scene) async throws -> String {
        let shown = try await scene.weir.run(["show", name, "--json"]).output
        let asset = try JSONSerialization.jsonObject(with: Data(shown.utf8)) as? [String: Any]
        return try #require(asset?["id"] as? String)
    }

    private func removePiece(of id: String, in scene: Scene) throws {
        let piece = scene.pieces().first { $0.contains(id) && $0.hasSuffix(".ts") }
        try FileManager.default.removeItem(atPath: try #require(piece))
    }
}
