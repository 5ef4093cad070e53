import EventLoop
import HTTPMessage
import TestSupport
import Testing

@testable import Origin

struct ProxyTests {
    private static let environment = [
        "http_proxy": "http://a:1", "HTTPS_PROXY": "b:2", "all_proxy": "socks5h://c:3",
        "no_proxy": "localhost, .inner.org,skip.com example.net:8080,10.0.0.0/8,",
    ]

    @Test(
        arguments: [
            ("http://h/", "http://a:1"), ("https://h/", "http://b:2"), ("http://inner.org/", nil),
            ("http://x.inner.org/", nil),
            ("http://skip.com/", nil), ("http://www.skip.com/", nil), ("http://noskip.com/", "http://a:1"),
            ("http://example.net/", "http://a:1"), ("http://example.net:8080/", nil), ("http://10.1.2.3/", nil),
            ("http://11.1.2.3/", "http://a:1"), ("http://localhost:99/", nil), ("https://127.0.0.1/", nil),
            ("https://[::1]/", nil),
        ])
    func theEnvironmentChooses(url: String, expected: String?) throws {
        let rules = try ProxyRules(nil, environment: Self.environment)
        #expect(rules.proxy(for: try WebURL(url), choice: nil).map { "\($0)" } == expected)
    }

    @Test func theKeyReplacesTheEnvironment() throws {
        let url = try WebURL("https://h/")
        let rules = try ProxyRules(try ProxyChoice("socks5://k:4"), environment: Self.environment)
        #expect(rules.proxy(for: url, choice: nil)?.description == "socks5://k:4")
        #expect(rules.proxy(for: try WebURL("http://skip.com/"), choice: nil) == nil)
        #expect(try ProxyRules(.direct, environment: Self.environment).proxy(for: url, choice: nil) == nil)
        #expect(rules.proxy(for: url, choice: .direct) == nil)
        #expect(rules.proxy(for: url, choice: try ProxyChoice("x:5"))?.description == "http://x:5")
        let all = try ProxyRules(nil, environment: ["ALL_PROXY": "c:3"])
        #expect(all.proxy(for: url, choice: nil)?.description == "http://c:3")
        #expect(try ProxyRules(nil, environment: ["http_proxy": "a:1", "no_proxy": "*"]).summary == nil)
        #expect(ProxyRules().proxy(for: url, choice: nil) == nil)
        let capitals = try ProxyRules(nil, environment: ["HTTP_PROXY": "a:1", "ALL_PROXY": "c:3"])
        #expect(capitals.proxy(for: try WebURL("http://h/"), choice: nil)?.description == "http://c:3")
    }

    @Test func aWrongVariableIsNamed() {
        #expect { try ProxyRules(nil, environment: ["https_proxy": "ftp://anna:secret@h"]) } throws: { error in
            guard let refusal = error as? RouteRefusal else { return false }
            return refusal.variable == "https_proxy" && !refusal.description.contains("secret")
        }
    }

    /// OpenSSL's results 66 and 67: of the server's certificate, and of its authority's.
    @Test(arguments: [66, 67])
    func aShortKeyIsNamed(result: Int) {
        let words = ConnectionFailure.certificate(result)
        #expect(words.contains("too short") && words.contains("--insecure"))
    }

    @Test func summariesHaveNoCredentials() throws {
        let rules = try ProxyRules(nil, environment: ["http_proxy": "http://anna:secret@a:1", "https_proxy": "b:2"])
        #expect(rules.summary == "http by http://a:1 with credentials, https by http://b:2")
    }
}

extension OverSockets {
    /// Requests through a proxy: the scripted origin plays the proxy.
    @Suite @LoopActor struct ProxyRequestTests {
        private func bench(_ proxy: ScriptedOrigin, _ credentials: String = "") throws -> Bench {
            let choice = try ProxyChoice("http://\(credentials)127.0.0.1:\(proxy.port)")
            return Bench { $0.proxies = (try? ProxyRules(choice, environment: [:])) ?? ProxyRules() }
        }

        @Test func httpIsAskedOfTheProxy() async throws {
            let proxy = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = try bench(proxy, "anna:p%40ss@")
            let request = OriginRequest(try WebURL("http://www.example.com/a?b"))
            let (recorder, error) = await bench.run(request)
            #expect(error == nil && recorder.text == "x")
            let got = try #require(proxy.requests.first)
            #expect(got.target == "http://www.example.com/a?b")
            #expect(got.fields["proxy-authorization"] == "Basic YW5uYTpwQHNz")
        }

        @Test func refusedCredentialsAreReportedWithoutThem() async throws {
            let proxy = try ScriptedOrigin { _, _ in
                [.reply(407, ["Proxy-Authenticate": "Basic realm=\"x\""], "")]
            }
            for text in ["http://www.example.com/a", "https://www.example.com/a"] {
                let (_, error) = await (try bench(proxy, "anna:secret@")).run(OriginRequest(try WebURL(text)))
                #expect(error?.code == .proxyRefused, "\(text)")
                let words = error?.description ?? ""
                #expect(words.contains("http://127.0.0.1:\(proxy.port)") && !words.contains("secret"))
            }
            #expect(proxy.requests.count == 4, "each once more, on another connection")
        }

        @Test(arguments: ["http://www.example.com/a", "https://www.example.com/a"])
        func aSingleRefusalIsNotFinal(url: String) async throws {
            let proxy = try ScriptedOrigin { request, number in
                if number == 0 {
                    return [.reply(407, ["Proxy-Authenticate": "Basic realm=\"x\""], "")]
                }
                // The tunnel ends at once: the test is about the answer to CONNECT.
                return request.method == "CONNECT" ? [.reply(200, [:], ""), .close] : [.reply(200, [:], "x")]
            }
            let bench = try bench(proxy, "anna:secret@")
            var request = OriginRequest(try WebURL(url))
            request.retries = .never
            let (_, error) = await bench.run(request)
            #expect(error?.code != .proxyRefused)
            #expect(proxy.requests.map(\.connection) == [0, 1])
        }

        /// Any server with a certificate of its own authority serves as the proxy.
        @Test func theCertificateOfAProxyIsNotTheOrigins() async throws {
            let server = try await HTTP2Origin()
            let choice = try ProxyChoice(server.url)
            let bench = Bench { $0.proxies = (try? ProxyRules(choice, environment: [:])) ?? ProxyRules() }
            for text in ["http://www.example.com/a", "https://www.example.com/a"] {
                let (_, error) = await bench.run(OriginRequest(try WebURL(text)))
                #expect(error?.code == .proxyRefused, "\(text)")
                let words = error?.description ?? ""
                #expect(words.contains("certificate of the proxy") && !words.contains("--insecure"), "\(words)")
            }
        }

        @Test(arguments: [
            "http://10.0.0.1/x", "http://nas.local/x", "http://169.254.169.254/x", "https://0x0a000001/x",
        ])
        func privateNamesAreRefused(url: String) async throws {
            let proxy = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let (_, error) = await (try bench(proxy)).run(OriginRequest(try WebURL(url)))
            #expect(error?.code == .refusedAddress)
            #expect(proxy.accepted == 0)
        }

        @Test func aNamedPrivateHostGoesThroughTheProxy() async throws {
            let proxy = try ScriptedOrigin { _, _ in [.reply(200, [:], "x")] }
            let bench = try bench(proxy)
            #expect(await bench.run(try bench.request("http://nas.local:8096/x")).1 == nil)
            var allowed = OriginRequest(try WebURL("http://10.0.0.1/x"))
            allowed.route.allowedHosts = [try AllowedHost("10.0.0.0/8")]
            #expect(await bench.run(allowed).1 == nil)
        }

        @Test func thisMachineIsNeverReachedThroughTheProxy() async throws {
            let proxy = try ScriptedOrigin { _, _ in [.reply(200, [:], "proxy")] }
            let origin = try ScriptedOrigin { _, _ in [.reply(200, [:], "origin")] }
            let bench = try bench(proxy)
            #expect(await bench.run(try bench.request(origin)).0.text == "origin")
            let other = OriginRequest(try WebURL("http://localhost:\(origin.port)/x"))
            #expect(await bench.run(other).1?.code == .refusedAddress)
            #expect(proxy.accepted == 0)
        }

        @Test func anAssetsOwnProxyReplacesOthers() async throws {
            let first = try ScriptedOrigin { _, _ in [.reply(200, [:], "first")] }
            let second = try ScriptedOrigin { _, _ in [.reply(200, [:], "second")] }
            let bench = try bench(first)
            var request = OriginRequest(try WebURL("http://www.example.com/a"))
            request.route.proxy = try ProxyChoice("127.0.0.1:\(second.port)")
            #expect(await bench.run(request).0.text == "second")
            #expect(await bench.run(OriginRequest(request.url)).0.text == "first")
        }

        @Test func anAbsentProxyIsNamed() async throws {
            let proxy = try ScriptedOrigin(isListening: false) { _, _ in [] }
            let (_, error) = await (try bench(proxy)).run(OriginRequest(try WebURL("http://www.example.com/a")))
            #expect(error?.code == .unreachable)
            #expect(error?.description.contains("the proxy http://127.0.0.1:\(proxy.port)") ?? false)
        }
    }
}
