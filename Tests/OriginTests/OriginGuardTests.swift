import EventLoop
import HTTPMessage
import Origin
import Testing

extension OverSockets {
    /// Allowed and refused destinations of requests.
    @Suite @LoopActor struct OriginGuardTests {
        private func field(_ text: String) throws -> FieldLine { try #require(FieldLine(Array(text.utf8))) }

        // MARK: Redirects

        @Test func redirectsAreFollowedAndTheFinalURLIsReported() async throws {
            let origin = try ScriptedOrigin { request, _ in
                switch request.target {
                case "/a/b/x?t=1": [.redirect("../c/y?u")]
                case "/a/c/y?u":
                    [.redirect("//127.0.0.1:\(request.fields["host"]?.split(separator: ":").last ?? "")/z", 307)]
                default: [.reply(200, [:], "here")]
                }
            }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin, "/a/b/x?t=1"))
            #expect(error == nil && recorder.text == "here")
            #expect(recorder.heads.map(\.url.text) == ["http://127.0.0.1:\(origin.port)/z"])
            #expect(origin.requests.map(\.target) == ["/a/b/x?t=1", "/a/c/y?u", "/z"])
            #expect(Set(origin.requests.map(\.connection)) == [0])
        }

        @Test func redirectLoopEndsAfterTen() async throws {
            let origin = try ScriptedOrigin { _, _ in [.redirect("/x")] }
            let bench = Bench()
            #expect(await bench.run(try bench.request(origin)).1?.code == .tooManyRedirects)
            #expect(origin.requests.count == 11)
        }

        @Test(arguments: [
            "file:///etc/passwd", "ftp://h/", "http://", "gopher://127.0.0.1:1/x",
        ])
        func redirectElsewhereIsRefused(location: String) async throws {
            let origin = try ScriptedOrigin { _, _ in [.redirect(location)] }
            let bench = Bench()
            let (recorder, error) = await bench.run(try bench.request(origin))
            #expect(error?.code == .forbiddenRedirect)
            #expect(recorder.heads.isEmpty && origin.requests.count == 1)
        }

        @Test func secretsAreSentToTheirOwnOriginOnly() async throws {
            let other = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let target = "http://localhost:\(other.port)/y"
            let origin = try ScriptedOrigin { request, _ in
                request.target == "/x" ? [.redirect("/z")] : [.redirect(target)]
            }
            let bench = Bench()
            var request = try bench.request(origin)
            request.fields = [try field("Referer: http://page/"), try field("User-Agent: Player/2")]
            request.credentials = .init(
                origin: request.url.origin, fields: [try field("Authorization: Bearer t"), try field("Cookie: a=b")])
            // The other origin is on loopback too; another test covers its refusal.
            let (_, error) = await bench.run(request)
            #expect(error?.code == .refusedAddress)
            #expect(origin.requests.map { $0.fields["authorization"] } == ["Bearer t", "Bearer t"])
            #expect(origin.requests.map { $0.fields["cookie"] } == ["a=b", "a=b"])
            #expect(origin.requests.map { $0.fields["user-agent"] } == ["Player/2", "Player/2"])

            var direct = try bench.request(target)
            direct.fields = request.fields
            direct.credentials = request.credentials
            #expect(await bench.run(direct).1 == nil)
            let got = try #require(other.requests.first)
            #expect(got.fields["authorization"] == nil && got.fields["cookie"] == nil)
            #expect(got.fields["referer"] == "http://page/")
        }

        @Test func framingFieldsOfTheCallerAreIgnored() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench()
            var request = try bench.request(origin)
            request.fields = try [
                "Host: evil", "Content-Length: 9", "Transfer-Encoding: chunked", "Range: bytes=1-2", "X-Empty:",
                "X-Full: 1",
            ].map(field)
            #expect(await bench.run(request).1 == nil)
            let got = try #require(origin.requests.first)
            #expect(got.fields["host"] == "127.0.0.1:\(origin.port)")
            #expect(
                got.fields["content-length"] == nil && got.fields["transfer-encoding"] == nil
                    && got.fields["range"] == nil)
            #expect(got.fields["x-empty"] == "" && got.fields["x-full"] == "1")
        }

        // MARK: Addresses

        @Test func unnamedPrivateAddressGetsNoConnection() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench()
            for host in ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"] {
                let request = OriginRequest(try WebURL("http://\(host):\(origin.port)/x"))
                let (recorder, error) = await bench.run(request)
                #expect(error?.code == .refusedAddress, "\(host)")
                #expect(recorder.heads.isEmpty)
            }
            var other = OriginRequest(try WebURL("http://127.0.0.1:\(origin.port)/x"))
            other.namedPeer = OriginRequest.Peer(host: "127.0.0.1", port: origin.port &+ 1)
            #expect(await bench.run(other).1?.code == .refusedAddress)
            #expect(origin.accepted == 0)
            #expect(!bench.client.isPresumedAbsent(other.url))
        }

        @Test(arguments: [("localhost", "127.0.0.1"), ("127.0.0.1", "localhost"), ("127.0.0.1", "127.1")])
        func thisMachineMayHaveAnotherName(named: String, host: String) async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench()
            var request = OriginRequest(try WebURL("http://\(host):\(origin.port)/x"))
            request.namedPeer = OriginRequest.Peer(host: named, port: origin.port)
            #expect(await bench.run(request).1 == nil)
            request.namedPeer?.port = origin.port &+ 1
            #expect(await bench.run(request).1?.code == .refusedAddress)
        }

        @Test func connectionToANamedPrivateAddressIsNotReusedByOthers() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench()
            #expect(await bench.run(try bench.request(origin)).1 == nil)
            let other = OriginRequest(try WebURL("http://127.0.0.1:\(origin.port)/secret"))
            #expect(await bench.run(other).1?.code == .refusedAddress)
            #expect(origin.requests.count == 1)
        }

        @Test func redirectToAnotherPrivateAddressGetsNoConnection() async throws {
            let inner = try ScriptedOrigin { _, _ in [.reply(200, [:], "secret")] }
            let origin = try ScriptedOrigin { _, _ in [.redirect("http://127.0.0.1:\(inner.port)/admin")] }
            let bench = Bench()
            #expect(await bench.run(try bench.request(origin)).1?.code == .refusedAddress)
            #expect(inner.accepted == 0)
        }

        @Test func ownListenerIsRefusedEvenWhenNamed() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench()
            bench.client.ownListeners = [
                .init(host: "127.0.0.1", port: origin.port), .init(host: "::1", port: origin.port),
            ]
            #expect(await bench.run(try bench.request(origin)).1?.code == .refusedAddress)
            #expect(await bench.run(try bench.request("http://localhost:\(origin.port)/")).1?.code == .refusedAddress)
            #expect(origin.accepted == 0)
        }
    }
}
