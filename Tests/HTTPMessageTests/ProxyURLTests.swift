import HTTPMessage
import Testing

struct ProxyURLTests {
    @Test(
        arguments: [
            ("http://proxy:3128", "http://proxy:3128"), ("proxy:3128", "http://proxy:3128"),
            ("proxy", "http://proxy:1080"),
            ("https://proxy", "https://proxy:443"), ("HTTP://Proxy.Example:80/", "http://proxy.example:80"),
            ("socks4a://10.0.0.1:9050", "socks4a://10.0.0.1:9050"), ("socks5://h", "socks5://h:1080"),
            ("socks5h://h:1", "socks5h://h:1"), ("socks://h:1/", "socks5h://h:1"),
            ("http://[fd00::1]:80", "http://[fd00::1]:80"),
            ("http://Bücher.example", "http://xn--bcher-kva.example:1080"),
            ("http://anna:p%40ss@h:1", "http://h:1"), ("anna:p@ss@h:1", "http://h:1"),
            ("http://anna@h:1", "http://h:1"),
        ])
    func proxiesAreRead(text: String, shown: String) throws {
        let proxy = try ProxyURL(text)
        #expect("\(proxy)" == shown)
        #expect(try ProxyURL(proxy.text) == proxy)
        #expect(proxy.hasCredentials == text.contains("@"))
    }

    @Test func credentialsAreDecoded() throws {
        let proxy = try ProxyURL("http://an%3Ana:p%40s%2Fs@h:1")
        #expect(proxy.user == "an:na" && proxy.password == "p@s/s")
        #expect(try ProxyURL(proxy.text) == proxy)
        #expect(try ProxyURL("http://anna@h").password == nil)
    }

    @Test(arguments: [
        "", "http://", "ftp://h:1", "http://h:0", "http://h:65536", "http://h:x", "http://h:1x", "http://a b",
        "http://h\n:1",
        "http://[::1", "http://[x]:1", "http://u:p%zz@h:1", "http://u:p%00@h:1", "http://u:p@", "socks4://h:1", "://h",
        String(repeating: "a", count: 1025),
    ])
    func othersAreRefusedWithoutRepeatingThem(text: String) {
        #expect { try ProxyURL(text) } throws: { error in
            guard let refusal = error as? ProxyURL.Refusal else { return false }
            return !refusal.description.contains("u:p")
        }
    }
}
