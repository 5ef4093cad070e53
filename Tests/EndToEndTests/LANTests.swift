import Foundation
import TestSupport
import Testing

/// `weir serve --lan`, with 127.0.0.2 for an address of the network.
@Suite struct LANTests {
    /// The daemon's URL for other devices, with the token and without a path.
    private func urls(_ weir: WeirProcess) async throws -> (base: String, bare: String) {
        let url = try await weir.run(["url", "film", "--lan"]).output
        #expect(url.hasPrefix("http://127.0.0.2:") && url.hasSuffix("/film.m3u8\n"), "\(url)")
        let base = String(url.dropLast("/film.m3u8\n".count))
        return (base, base.components(separatedBy: "/t/")[0])
    }

    private func paths(_ text: String) -> [String] {
        text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    private func started(_ options: [String] = []) async throws -> (weir: WeirProcess, origin: TestOrigin) {
        let origin = try await TestOrigin()
        let weir = try await WeirProcess(options: ["--lan", "127.0.0.2"] + options)
        #expect(try await weir.run(["get", origin.master("ts"), "-q", "worst", "--name", "film"]).exit == .code(0))
        return (weir, origin)
    }

    @Test func playsMediaWithTheTokenInEveryURL() async throws {
        let (weir, origin) = try await started()
        let (base, bare) = try await urls(weir)
        let port = await weir.port
        #expect(bare.hasSuffix(":\(port)"))
        let entry = try await HTTPProbe.fetch(base + "/film.m3u8")
        let token = base.dropFirst(bare.count)
        let media = try #require(paths(entry.text).first)
        #expect(entry.status == 200 && media.hasPrefix(token + "/a/"))
        let segments = try await PlaylistWalk.segments(bare + media)
        #expect(segments.count > 3 && segments.allSatisfy { $0.hasPrefix(base + "/a/") })
        let name = try #require(segments[2].split(separator: "/").last)
        #expect(try await HTTPProbe.fetch(segments[2]).body == Repository.fixture("/ts/90p/\(name)"))
        #expect(try await HTTPProbe.fetch(base + "/offline/film.m3u8").status == 200)
        let page = try await HTTPProbe.fetch(base + "/")
        #expect(page.status == 200 && page.text.contains("<a href=\"film.m3u8\">"))
        // Other devices may not request private addresses, but stored assets from one play.
        #expect(try await HTTPProbe.fetch(base + "/" + origin.master("ts")).status == 200)
        let count = try await origin.requests().count
        #expect(try await HTTPProbe.fetch(base + "/" + origin.master("cmaf")).status == 403)
        #expect(try await origin.requests().count == count)
        try await weir.terminate()
        let log = await weir.log
        #expect(!log.contains(token.dropFirst(3)))
    }

    @Test func answersNothingWithoutTheMediaToken() async throws {
        let (weir, _) = try await started()
        let (base, bare) = try await urls(weir)
        let token = try String(contentsOfFile: weir.state + "/token", encoding: .utf8).trimmingCharacters(in: .newlines)
        let entry = paths(try await HTTPProbe.fetch(base + "/film.m3u8").text)[0]
        let inner = String(entry.dropFirst(base.count - bare.count))
        let fields = ["Authorization": "Bearer \(token)"]
        let wrong = String(base.dropLast()) + (base.hasSuffix("A") ? "B" : "A")
        for url in [
            bare + "/", bare + "/film.m3u8", bare + inner, bare + "/t/", bare + "/t/\(token)/film.m3u8",
            wrong + "/film.m3u8",
            base, base + "x/film.m3u8", bare + "/api/v1/assets", base + "/api/v1/assets",
            bare + "/\(base.dropFirst(7))/",
        ] {
            let answer = try await HTTPProbe.fetch(url, fields: fields)
            #expect(answer.status == 404 && !answer.text.contains("film"), "\(url)")
        }
        // The media token grants nothing else.
        let media = String(base.components(separatedBy: "/t/")[1])
        let api = try await HTTPProbe.fetch(weir.url("/api/v1/assets"), fields: ["Authorization": "Bearer \(media)"])
        #expect(api.status == 401)
        #expect(try await HTTPProbe.fetch(weir.url("/t/\(media)/film.m3u8")).status == 404)
        #expect(try await HTTPProbe.fetch(base + "/film.m3u8", fields: ["Host": "evil.example"]).status == 421)
        #expect(
            try await HTTPProbe.fetch(base + "/film.m3u8", fields: ["Origin": "https://evil.example"]).status == 403)
        #expect(try await HTTPProbe.fetch(base + "/film.m3u8", fields: ["Sec-Fetch-Site": "cross-site"]).status == 403)
        try await weir.terminate()
    }

    @Test func allowsOnlyListedOrigins() async throws {
        let (weir, _) = try await started(["--allowed-origins", "https://tv.example"])
        let (base, bare) = try await urls(weir)
        let fields = ["Origin": "https://tv.example", "Sec-Fetch-Site": "cross-site"]
        let entry = try await HTTPProbe.fetch(base + "/film.m3u8", fields: fields)
        #expect(entry["access-control-allow-origin"] == "https://tv.example" && entry["vary"] == "Origin")
        let list = bare + paths(entry.text)[0]
        let media = try await HTTPProbe.fetch(list, fields: fields)
        let segment = try #require(PlaylistWalk.segments(media.text, at: list).first)
        let part = try await HTTPProbe.fetch(segment, fields: fields.merging(["Range": "bytes=1-2"]) { $1 })
        #expect(part.status == 206 && part["access-control-expose-headers"]?.contains("Content-Range") == true)
        let plain = try await HTTPProbe.fetch(base + "/film.m3u8")
        #expect(plain["access-control-allow-origin"] == nil && plain["vary"] == "Origin")
        try await weir.terminate()
    }

    @Test func limitsOnePeerToThirtyTwoConnections() async throws {
        let (weir, _) = try await started()
        let (_, bare) = try await urls(weir)
        let port = try #require(Int(bare.split(separator: ":").last ?? ""))
        let held = try (0..<32).map { _ in try RawConnection(port: port, host: "127.0.0.2") }
        let answer = try await RawConnection(port: port, host: "127.0.0.2").receive().bytes
        #expect(String(decoding: answer, as: UTF8.self).hasPrefix("HTTP/1.1 503 "))
        // The user's own players are not counted.
        #expect(try await HTTPProbe.fetch(weir.url("/film.m3u8")).status == 200)
        #expect(held.count == 32)
        try await weir.terminate()
    }

    /// Samples of `/metrics`, by name and labels.
    private func samples(_ weir: WeirProcess) async throws -> [String: Double] {
        let lines = try await HTTPProbe.fetch(weir.url("/metrics")).text.split(separator: "\n")
        let parts = lines.filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ") }
        return Dictionary(parts.map { (String($0[0]), Double($0[1]) ?? .nan) }) { $1 }
    }

    @Test func countsNetworkClientsWithoutNamingThem() async throws {
        let (weir, _) = try await started()
        let (base, bare) = try await urls(weir)
        let token = try String(contentsOfFile: weir.state + "/token", encoding: .utf8).trimmingCharacters(in: .newlines)
        let before = try await samples(weir)
        let urls = [bare + "/metrics", base + "/metrics", base + "/metrics/"] + (0..<5).map { bare + "/x\($0)" }
        for url in urls {
            let answer = try await HTTPProbe.fetch(url, fields: ["Authorization": "Bearer \(token)"])
            #expect(answer.status == 404 && !answer.text.contains("weir_"), "\(url)")
        }
        let held = try RawConnection(port: #require(Int(bare.split(separator: ":").last ?? "")), host: "127.0.0.2")
        try await held.send("GET \(base.dropFirst(bare.count))/ HTTP/1.1\r\nHost: \(bare.dropFirst(7))\r\n\r\n")
        #expect(try await held.receiveHead().bytes.starts(with: Data("HTTP/1.1 200 ".utf8)))
        let after = try await samples(weir)
        #expect(Set(after.keys) == Set(before.keys))
        func growth(_ name: String) -> Double { (after[name] ?? .nan) - (before[name] ?? .nan) }
        #expect(growth("weir_replies_total{class=\"4xx\"}") == Double(urls.count))
        // The previous metrics request, and the page.
        #expect(growth("weir_replies_total{class=\"2xx\"}") == 2)
        #expect(growth("weir_accepted_connections_total") == Double(urls.count + 2))
        #expect(after["weir_connections"] == 2)
        try await weir.terminate()
    }

    @Test func closesBothListenersAndFinishesResponsesAtStop() async throws {
        let (weir, origin) = try await started()
        let (base, bare) = try await urls(weir)
        let size = 20_000_000
        let port = await weir.port
        let list = origin.url("/_vod/2x\(size)/media.m3u8")
        // The user's own URL first, because the origin has a private address.
        #expect(try await HTTPProbe.fetch(weir.url("/" + list)).status == 200)
        let segment = try #require(paths(try await HTTPProbe.fetch(base + "/" + list).text).first)
        #expect(try await HTTPProbe.fetch(bare + segment).body.count == size)
        let reader = try RawConnection(port: port, host: "127.0.0.2", receiveBuffer: 4096)
        try await reader.send("GET \(segment) HTTP/1.1\r\nHost: 127.0.0.2:\(port)\r\n\r\n")
        #expect(try await reader.receiveHead().end == .satisfied)
        async let exit = weir.terminate()
        try await waitUntil("the user's own door to be shut") { (try? RawConnection(port: port)) == nil }
        let rest = try await reader.receive()
        #expect(rest.bytes.count == size && rest.end == .closed)
        #expect(try await exit == .code(0))
    }

    @Test func drawsTheURLWithQrencode() async throws {
        let weir = try await WeirProcess(options: ["--lan", "127.0.0.2"])
        let folder = try TemporaryFolder()
        let drawing = ["url", "http://h/m.m3u8", "--lan", "--qr"]
        let missing = try await weir.run(drawing, environment: ["PATH": folder.path])
        #expect(missing.exit == .code(69) && missing.errors.contains("qrencode"), "\(missing.errors)")
        let program = try folder.write(Data("#!/bin/sh\necho \"$@\"\nexec /bin/cat\n".utf8), to: "qrencode")
        chmod(program, 0o755)
        let drawn = try await weir.run(drawing, environment: ["PATH": folder.path])
        #expect(missing.output.hasSuffix("/http://h/m.m3u8\n"))
        #expect(drawn.output == missing.output + "-t UTF8 -m 2\n" + missing.output && drawn.exit == .code(0))
        try await weir.terminate()
    }

    @Test func listensOnTheNetworkOnlyByOption() async throws {
        let weir = try await WeirProcess()
        let refused = try await weir.run(["url", "http://h/m.m3u8", "--lan"])
        #expect(refused.exit == .code(69) && refused.errors.contains("by weir config edit"), "\(refused.errors)")
        try await weir.terminate()
        for address in [
            "0.0.0.0", "::", "[::]:1", "localhost", "192.168.1", "127.0.0.2:x", "224.0.0.1", "127.0.0.2:70000",
        ] {
            let folder = try TemporaryFolder()
            let result = try await ProcessRunner.run(
                Repository.builtProgram("weir"),
                ["serve", "--lan", address, "--store", folder.path("s"), "--state", folder.path("t")])
            #expect(result.exit == .code(64) && result.errors.contains("--lan"), "\(address): \(result.errors)")
        }
    }
}
