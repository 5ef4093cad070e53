import EventLoop
import HTTPMessage
import Testing

@testable import Origin

extension OverSockets {
    /// Cookies that origins set and users give: which requests carry them.
    @Suite @LoopActor struct CookieJarTests {
        private func request(_ bench: Bench, _ url: String, _ jar: CookieJar) throws -> OriginRequest {
            var request = try bench.request(url)
            request.cookies = jar
            return request
        }

        private func cookie(_ text: String) throws -> StoredCookie { try #require(StoredCookie(text.utf8)) }

        @Test func cookieOfARedirectIsSentFromThenOnAndToNoOtherAsset() async throws {
            let origin = try ScriptedOrigin { request, _ in
                if request.target == "/login" {
                    return [.reply(302, ["Location": "/master", "Set-Cookie": "hdntl=exp~1; Path=/"], "")]
                }
                return [.reply(200, [:], "x")]
            }
            let bench = Bench()
            let jar = CookieJar()
            let base = "http://127.0.0.1:\(origin.port)"
            #expect(await bench.run(try request(bench, base + "/login", jar)).1 == nil)
            #expect(await bench.run(try request(bench, base + "/segment", jar)).1 == nil)
            #expect(await bench.run(try request(bench, base + "/other", CookieJar())).1 == nil)
            #expect(await bench.run(try bench.request(base + "/plain")).1 == nil)
            let sent = origin.requests.map { $0.fields["cookie"] }
            #expect(sent == [nil, "hdntl=exp~1", "hdntl=exp~1", nil, nil])
        }

        /// Some for other hosts and for all of a domain.
        @Test("Many long cookies of an origin make no request long")
        func manyLongCookies() async throws {
            let domains = [
                "", "; Domain=localhost", "; Domain=.com", "; Domain=example.com", "; Domain=127.0.0.1; Path=/..",
                "; Domain=",
            ]
            let long = String(repeating: "a", count: 900)
            let fields = (0..<60).map { "Set-Cookie: c\($0)=\(long)\(domains[$0 % 6]); Max-Age=99999999999\r\n" }
                .joined()
            let origin = try ScriptedOrigin { _, _ in [.text("HTTP/1.1 200 OK\r\n\(fields)Content-Length: 1\r\n\r\nx")]
            }
            let bench = Bench()
            let jar = CookieJar()
            for _ in 0..<12 {
                #expect(await bench.run(try request(bench, "http://127.0.0.1:\(origin.port)/a/b", jar)).1 == nil)
            }
            let sent = origin.requests.map { $0.fields["cookie"]?.utf8.count ?? 0 }
            #expect(sent.count == 12 && sent.dropFirst().allSatisfy { (900..<60_000).contains($0) }, "\(sent)")
            #expect(jar.lines.allSatisfy { !$0.contains("example.com") && !$0.hasPrefix(".com") })
        }

        @Test func scopeIsDomainPathSecureAndExpiry() async throws {
            let origin = try ScriptedOrigin { request, _ in
                guard request.target == "/set" else { return [.reply(200, [:], "x")] }
                let name = request.fields["x-name"] ?? ""
                let cookies = [
                    "wide": "wide=1; Domain=cdn.localhost; Path=/", "host": "host=1; Path=/", "path": "path=1; Path=/a",
                    "safe": "safe=1; Path=/; Secure", "old": "old=1; Path=/; Max-Age=0",
                    "alien": "alien=1; Domain=other.localhost; Path=/", "public": "public=1; Domain=localhost; Path=/",
                ]
                return [.reply(200, ["Set-Cookie": cookies[name] ?? ""], "x")]
            }
            let bench = Bench()
            let jar = CookieJar()
            for name in ["wide", "host", "path", "safe", "old", "alien", "public"] {
                var set = try request(bench, "http://one.cdn.localhost:\(origin.port)/set", jar)
                set.fields = [try #require(FieldLine("X-Name: \(name)".utf8))]
                #expect(await bench.run(set).1 == nil)
            }
            for url in ["one.cdn", "two.cdn", "other"].map({ "http://\($0).localhost:\(origin.port)" }) {
                #expect(await bench.run(try request(bench, url + "/a/x", jar)).1 == nil)
            }
            #expect(await bench.run(try request(bench, "http://one.cdn.localhost:\(origin.port)/b", jar)).1 == nil)
            let names = origin.requests.suffix(4).map { request in
                Set(
                    (request.fields["cookie"] ?? "").split(separator: ";").map {
                        $0.prefix { $0 != "=" }.drop { $0 == " " }
                    })
            }
            #expect(names == [["wide", "host", "path"], ["wide"], [], ["wide", "host"]])
        }

        @Test func offeredCookiesAreKeptOnlyForHostsThatAreAsked() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = Bench()
            let jar = CookieJar()
            jar.offer([
                try cookie("127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb"),
                try cookie("bank.example\tFALSE\t/\tFALSE\t0\tsecret\ts"),
            ])
            #expect(await bench.run(try request(bench, "http://127.0.0.1:\(origin.port)/x", jar)).1 == nil)
            #expect(origin.requests.map { $0.fields["cookie"] } == ["a=b"])
            #expect(jar.lines == ["127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb"])
        }

        @Test func renewedCookieReplacesTheGivenOne() async throws {
            let origin = try ScriptedOrigin { _, number in
                [.reply(200, number == 0 ? ["Set-Cookie": "a=new; Path=/"] : [:], "x")]
            }
            let bench = Bench()
            let jar = CookieJar()
            for _ in 0..<2 {
                var request = try request(bench, "http://127.0.0.1:\(origin.port)/x", jar)
                let field = try #require(FieldLine("Cookie: a=old; b=kept".utf8))
                request.credentials = .init(origin: request.url.origin, fields: [field])
                #expect(await bench.run(request).1 == nil)
            }
            #expect(origin.requests.map { $0.fields["cookie"] } == ["a=old; b=kept", "a=new; b=kept"])
        }

        @LoopActor private final class KeptCookies: CookieStorage {
            private var saved: [String] = []
            func keep(_ lines: [String], in file: String) { saved = lines }
            func lines(in file: String) -> [String] { saved }
        }

        @Test func savedLinesSetUpAnotherJar() async throws {
            let origin = try ScriptedOrigin { _, _ in [.reply(200, ["Set-Cookie": "s=1; Path=/; HttpOnly"], "x")] }
            let bench = Bench()
            let jar = CookieJar()
            #expect(await bench.run(try request(bench, "http://127.0.0.1:\(origin.port)/x", jar)).1 == nil)
            let storage = KeptCookies()
            jar.storage = storage
            jar.save()
            let again = CookieJar()
            again.storage = storage
            #expect(await bench.run(try request(bench, "http://127.0.0.1:\(origin.port)/y", again)).1 == nil)
            #expect(origin.requests.map { $0.fields["cookie"] } == [nil, "s=1"])
        }

        @Test func nothingGivenForHTTPSGoesToHTTP() throws {
            var request = OriginRequest(try WebURL("https://h/x"))
            request.fields = [try #require(FieldLine("Referer: https://page/".utf8))]
            #expect(request.fields(for: try WebURL("https://cdn/x")).count == 1)
            #expect(request.fields(for: try WebURL("http://h/x")).isEmpty)
            #expect(request.isDowngraded(at: try WebURL("http://h/x")))
        }
    }
}
