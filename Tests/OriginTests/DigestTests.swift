import EventLoop
import HTTPMessage
import Testing

@testable import Origin

extension OverSockets {
    /// Credentials that the user gave to an origin or a proxy, which asks for Digest (RFC 7616).
    @Suite @LoopActor struct DigestTests {
        /// RFC 2069, without `qop`, so that the response depends on nothing random. For `anna:p@ss`, and by path.
        nonisolated private static let responses = [
            "/a.ts": "8f5db3ef61b511bd8fa9a9f8ef6a022b", "/b.ts": "e6b56a3cf896cd404490986c06ea0523",
        ]

        nonisolated private static func answer(_ request: ScriptedOrigin.Request) -> [ScriptedOrigin.Step] {
            let given = request.fields["authorization"] ?? ""
            let isRight = responses[request.target].map { given.contains("response=\"\($0)\"") } ?? false
            guard isRight, given.hasPrefix("Digest username=\"anna\"") else {
                return [.reply(401, ["WWW-Authenticate": "Digest realm=\"films\", nonce=\"n0nce\""], "no")]
            }
            return [.reply(200, ["ETag": "\"1\""], "film")]
        }

        private func request(_ url: WebURL, _ credentials: String = "YW5uYTpwQHNz") throws -> OriginRequest {
            var request = OriginRequest(url)
            request.namedPeer = OriginRequest.Peer(of: url)
            let field = try #require(FieldLine("Authorization: Basic \(credentials)".utf8))
            request.credentials = OriginRequest.Credentials(origin: url.origin, fields: [field])
            return request
        }

        @Test func anOriginThatAsksForItGetsIt() async throws {
            let origin = try ScriptedOrigin { request, _ in Self.answer(request) }
            let bench = Bench()
            for (path, count) in [("/a.ts", 3), ("/b.ts", 5), ("/a.ts", 7)] {
                let url = try WebURL("http://127.0.0.1:\(origin.port)\(path)")
                let (recorder, error) = await bench.run(try request(url))
                #expect(error == nil && recorder.text == "film")
                #expect(recorder.heads.map(\.status) == [200])
                // The next requests do not try Basic first.
                #expect(origin.requests.count == count)
            }
            let given = origin.requests.map { $0.fields["authorization"]?.prefix(6) ?? "none" }
            #expect(given == ["Basic ", "none", "Digest", "none", "Digest", "none", "Digest"])
        }

        @Test func aWrongPasswordIsRefusedOnce() async throws {
            let origin = try ScriptedOrigin { request, _ in Self.answer(request) }
            let url = try WebURL("http://127.0.0.1:\(origin.port)/a.ts")
            let (recorder, error) = await Bench().run(try request(url, "YW5uYTp3cm9uZw=="))
            #expect(error?.code == .unauthorized && recorder.bytes.isEmpty)
            #expect(origin.requests.count == 3)
        }

        /// Neither without credentials nor for other schemes.
        @Test(arguments: ["Digest realm=\"films\", nonce=\"n0nce\"", "Negotiate", "NTLM", "Basic realm=\"films\""])
        func nothingElseIsAnswered(_ challenge: String) async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(401, ["WWW-Authenticate": challenge], "no")] }
            let url = try WebURL("http://127.0.0.1:\(origin.port)/a.ts")
            var plain = OriginRequest(url)
            plain.namedPeer = OriginRequest.Peer(of: url)
            #expect(await Bench().run(plain).1?.code == .unauthorized)
            #expect(origin.requests.count == 1)
            guard !challenge.hasPrefix("Digest") else { return }
            #expect(await Bench().run(try request(url)).1?.code == .unauthorized)
            #expect(origin.requests.count == 2)
        }

        @Test func aProxyThatAsksForItGetsIt() async throws {
            let proxy = try ScriptedOrigin { request, _ in
                let given = request.fields["proxy-authorization"] ?? ""
                guard given.hasPrefix("Digest "), given.contains("response=\"") else {
                    return [.reply(407, ["Proxy-Authenticate": "Digest realm=\"px\", nonce=\"n0nce\""], "no")]
                }
                return [.reply(200, [:], "film")]
            }
            let choice = try ProxyChoice("http://anna:p%40ss@127.0.0.1:\(proxy.port)")
            let bench = Bench { $0.proxies = (try? ProxyRules(choice, environment: [:])) ?? ProxyRules() }
            let (recorder, error) = await bench.run(OriginRequest(try WebURL("http://www.example.com/a")))
            #expect(error == nil && recorder.text == "film")
            let given = proxy.requests.compactMap { $0.fields["proxy-authorization"] }
            #expect(given.last?.contains("username=\"anna\"") == true)
        }

        @Test(
            arguments: [
                ("Basic YW5uYTpwQHNz", "anna", "p@ss"), ("basic YW5uYTo=", "anna", ""), ("Basic OnA=", "", "p"),
                ("Basic YTpiOmM=", "a", "b:c"), ("Basic YW5uYQ==", nil, nil), ("Bearer YW5uYTpwQHNz", nil, nil),
                ("Basic a b", nil, nil), ("Basic", nil, nil),
            ] as [(String, String?, String?)])
        func credentialsOfBasicAreRead(_ value: String, _ user: String?, _ password: String?) throws {
            let credentials = BasicCredentials(try #require(FieldLine("Authorization: \(value)".utf8)))
            #expect(credentials?.user == user && credentials?.password == password)
        }
    }
}
