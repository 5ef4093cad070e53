import HTTPMessage
import Testing

struct WebURLTests {
    @Test(arguments: [
        ("http://example.com", "http://example.com/"),
        ("HTTPS://Example.COM:443/A/b", "https://example.com/A/b"),
        ("http://h:8080?x", "http://h:8080/?x"),
        ("http://h:/p#fragment?no", "http://h/p"),
        ("http://h/a?b?c/d#e", "http://h/a?b?c/d"),
        ("http://h/a/./b/../c?../d", "http://h/a/c?../d"),
        ("http://h/%7e%2F%zz?100%", "http://h/%7e%2F%zz?100%"),
        ("http://h/é/日?ü", "http://h/%C3%A9/%E6%97%A5?%C3%BC"),
        ("http://h/\"<>\\^`{|}[]", "http://h/%22%3C%3E%5C%5E%60%7B%7C%7D[]"),
        ("http://[::1]:81/x", "http://[::1]:81/x"),
        ("http://[2001:DB8::192.0.2.1]", "http://[2001:db8::192.0.2.1]/"),
        ("http://my_host-1.example./", "http://my_host-1.example./"),
        ("http://Bücher.example:81/ü", "http://xn--bcher-kva.example:81/%C3%BC"),
        ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
        ("http://h/..", "http://h/"),
        ("http://h?", "http://h/?"), ("http://[1:2:3:4:5:6:7::]/", "http://[1:2:3:4:5:6:7::]/"),
    ])
    func absoluteURLIsReadIntoTheFormThatIsSent(text: String, sent: String) throws {
        #expect(try WebURL(text).text == sent)
        #expect(try WebURL(WebURL(text).text) == WebURL(text))
    }

    /// A handler reads what the playlist or the user wrote, so the host keeps its letters.
    @Test(arguments: [
        ("SKD://Key-ID", "skd://Key-ID", "Key-ID", ""), ("myscheme://playlist", "myscheme://playlist", "playlist", ""),
        ("my+s.2://h/a/../b?q#f", "my+s.2://h/b?q", "h", "/b"), ("x://u@h:99/", "x://u@h:99/", "u@h:99", "/"),
        ("x:///a", "x:///a", "", "/a"), ("x://a b".replacing(" ", with: "%20"), "x://a%20b", "a%20b", ""),
    ])
    func anotherSchemeIsKeptForAHandler(text: String, sent: String, host: String, path: String) throws {
        let url = try WebURL(text)
        #expect(url.text == sent && url.host == host && url.path == path && url.needsHandler)
        #expect(try WebURL(url.text) == url)
    }

    @Test(arguments: [
        ("seg.ts", "x://h/seg.ts"), ("/a/b", "x://h/a/b"), ("y://K@1", "y://K@1"), ("https://h/", "https://h/"),
    ])
    func aReferenceIsResolvedAgainstAnotherScheme(reference: String, expected: String) throws {
        #expect(try WebURL("x://h").resolving(reference).text == expected)
    }

    @Test(
        arguments: [
            ("", WebURLError.unsupportedScheme), ("h", .unsupportedScheme), ("//h/p", .unsupportedScheme),
            ("file:///etc/passwd", .unsupportedScheme), ("FILE://h/", .unsupportedScheme),
            ("ftp:/h", .unsupportedScheme), ("skd://", .missingHost), ("skd://?q", .missingHost),
            ("data:,x", .unsupportedScheme), ("http:", .missingHost), ("http:g", .missingHost),
            ("http:/h/p", .missingHost),
            ("http://", .missingHost), ("http:///p", .missingHost), ("http://:80/", .missingHost),
            ("http://?q", .missingHost),
            ("http://u@h/", .userInformation), ("http://u:p@h/", .userInformation), ("http://a\\@h/", .userInformation),
            ("http://h:0/", .invalidPort), ("http://h:65536/", .invalidPort), ("http://h:8a/", .invalidPort),
            ("http://h:+1/", .invalidPort), ("http://h:-1/", .invalidPort), ("http://a:b:c/", .invalidPort),
            ("http://h\\x/", .invalidHost), ("http://h%41/", .invalidHost), ("http://bücher%.example/", .invalidHost),
            ("http://b%FCcher.example/", .invalidHost), ("http://h／x.example/", .invalidHost),
            ("http://u＠h/", .invalidHost), ("http://h\u{2028}/", .invalidHost),
            ("http://.h/", .invalidHost), ("http://[::1/", .invalidHost), ("http://[::1]x/", .invalidHost),
            ("http://[fe80::1%25eth0]/", .invalidHost), ("http://[1::2::3]/", .invalidHost),
            ("http://[1:2]/", .invalidHost),
            ("http://[1:2:3:4:5:6:7:8:9]/", .invalidHost), ("http://[::1.2.3.400]/", .invalidHost),
            ("http://[]/", .invalidHost), ("http://[:]/", .invalidHost), ("http://[1:2:3:4:5:6:7::8]/x", .invalidHost),
            ("http://[::1.2.3.4:5]/", .invalidHost), ("http://[1:::2]/", .invalidHost),
            (" http://h/", .forbiddenCharacter), ("http://h/a b", .forbiddenCharacter),
            ("http://h/\r\n", .forbiddenCharacter),
            ("http://h/\u{0}", .forbiddenCharacter), ("http://h/\u{7F}", .forbiddenCharacter),
        ])
    func textThatIsNoURLForUsIsRefusedWithItsReason(text: String, reason: WebURLError) {
        #expect(throws: reason) { try WebURL(text) }
    }

    @Test(arguments: [
        ("k.key", true), ("//h/k", true), ("?a:b", true), ("a/b:c", true), ("1a:b", true), ("", true),
        ("skd://k", false),
        ("urn:k", false), (" http://h/k", false), ("data:,k", false),
    ])
    func aReferenceWithoutASchemeIsRelative(_ reference: String, _ isRelative: Bool) {
        #expect(WebURL.isRelative(reference) == isRelative)
    }

    @Test func aURLIsSplitIntoItsParts() throws {
        let url = try WebURL("https://[2001:db8::1]/a/b.m3u8?token=secret#x")
        #expect(url.scheme == .https)
        #expect(url.host == "2001:db8::1")
        #expect(url.port == 443)
        #expect(url.path == "/a/b.m3u8")
        #expect(url.query == "token=secret")
        #expect(url.origin.description == "https://[2001:db8::1]")
        #expect(try url.origin == WebURL("HTTPS://[2001:DB8::1]:443/").origin)
        #expect(try url.origin != WebURL("http://[2001:db8::1]:443/").origin)
    }

    @Test func redactedTextAndInterpolationHideTheQuery() throws {
        let url = try WebURL("http://h/a?token=secret")
        #expect(url.redacted == "http://h/a?…")
        #expect("\(url)" == "http://h/a?…")
        #expect(try WebURL("http://h/a").redacted == "http://h/a")
    }

    /// RFC 3986 §5.4.1 and §5.4.2, for a strict resolver.
    @Test(arguments: [
        ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
        ("//g", "http://g/"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q"),
        ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"), (";x", "http://a/b/c/;x"),
        ("g;x", "http://a/b/c/g;x"),
        ("g;x?y#s", "http://a/b/c/g;x?y"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
        ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
        ("../../", "http://a/"), ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g"),
        ("g#s/../x", "http://a/b/c/g"),
    ])
    func referenceIsResolvedAsTheRFCsExamplesSay(reference: String, expected: String) throws {
        #expect(try WebURL("http://a/b/c/d;p?q").resolving(reference).text == expected)
    }

    @Test(arguments: [
        ("https://other/x", "https://other/x"), ("//other:81/x?y", "https://other:81/x?y"),
        ("seg 1.ts ", "https://h/v/seg%201.ts"),
        ("\tseg.ts\r\n", "https://h/v/seg.ts"), ("ä.ts", "https://h/v/%C3%A4.ts"), ("a//../b", "https://h/v/a/b"),
        ("?", "https://h/v/media.m3u8?"), ("http://x/a b", "http://x/a%20b"), ("1:2.ts", "https://h/v/1:2.ts"),
        ("..//x", "https://h//x"),
        ("0_a-1~.ts", "https://h/v/0_a-1~.ts"), (".ts", "https://h/v/.ts"), ("...", "https://h/v/..."),
        (".", "https://h/v/"),
    ])
    func referenceFromTheFieldIsResolved(reference: String, expected: String) throws {
        #expect(try WebURL("https://h/v/media.m3u8?t=1").resolving(reference).text == expected)
    }

    /// Unicode becomes percent-encoded UTF-8; existing encodings stay unchanged, since signatures may cover them.
    @Test(arguments: [
        ("日本/ü.ts?q=ä", "https://h/v/%E6%97%A5%E6%9C%AC/%C3%BC.ts?q=%C3%A4"),
        ("e\u{301}.ts", "https://h/v/e%CC%81.ts"), ("🎬", "https://h/v/%F0%9F%8E%AC"),
        ("a%20b%2fc%zz%", "https://h/v/a%20b%2fc%zz%"), ("%2e%2e/x", "https://h/v/%2e%2e/x"),
        ("%E6%97%A5?%e6", "https://h/v/%E6%97%A5?%e6"), ("a+b?c+d", "https://h/v/a+b?c+d"),
        ("?", "https://h/v/media.m3u8?"), ("?é=1&../x", "https://h/v/media.m3u8?%C3%A9=1&../x"),
        ("?a?b", "https://h/v/media.m3u8?a?b"), ("//cdn.example/é/../b?x", "https://cdn.example/b?x"),
        ("//cdn.example", "https://cdn.example/"), ("//bücher.example/é", "https://xn--bcher-kva.example/%C3%A9"),
        ("http://日本.example/x", "http://xn--wgv71a.example/x"), ("../../../é", "https://h/%C3%A9"),
        ("./?x", "https://h/v/?x"),
        ("a\u{2028}b", "https://h/v/a%E2%80%A8b"), ("a\"b", "https://h/v/a%22b"), ("{$x}", "https://h/v/%7B$x%7D"),
        ("seg;v=1.2,3:4@5", "https://h/v/seg;v=1.2,3:4@5"), ("#é", "https://h/v/media.m3u8?t=1"),
    ])
    func referenceInUnicodeOrEncodedIsSentInASCII(reference: String, expected: String) throws {
        #expect(try WebURL("https://h/v/media.m3u8?t=1").resolving(reference).text == expected)
    }

    @Test(arguments: [
        ("g:h", WebURLError.unsupportedScheme), ("file:///x", .unsupportedScheme), ("data:,x", .unsupportedScheme),
        ("http:g", .missingHost), ("///x", .missingHost), ("a\nb", .forbiddenCharacter),
        ("//a b/", .invalidHost),
    ])
    func aReferenceToAnotherSchemeIsRefused(reference: String, reason: WebURLError) {
        #expect(throws: reason) { try WebURL("https://h/v/media.m3u8").resolving(reference) }
    }

    /// The expected results are those of browsers.
    @Test(arguments: [
        ("http:/p", "http://h/p"), ("http:p", "http://h/v/p"), ("http:///h2/p", "http://h2/p"),
        ("http:////h2/p", "http://h2/p"), ("///h2/p", "http://h2/p"), ("//h2/p", "http://h2/p"),
        ("\\p", "http://h/p"), ("\\\\h2\\p", "http://h2/p"), ("http:\\\\h2\\p", "http://h2/p"),
        ("https:/h2/p", "https://h2/p"), ("HTTP://h2/p", "http://h2/p"), ("/p?a\\b", "http://h/p?a%5Cb"),
        (" ../p ", "http://h/p"), ("?q", "http://h/v/m?q"), ("http:", "http://h/v/m?t"), ("a:b", nil),
        ("file:///etc/passwd", nil), ("http://", nil), ("http:///", nil), ("skd://key", nil),
        ("http:skd://key", "http://h/v/skd://key"), ("http:\t\tskd://key", "http://h/v/skd://key"),
        ("http:http://other/", "http://h/v/http://other/"),
    ])
    func aLocationIsResolvedAsBrowsersDo(location: String, expected: String?) throws {
        #expect((try? WebURL("http://h/v/m?t").resolving(redirect: location))?.text == expected)
    }

    /// As browsers and FFmpeg do, a user name stays with references that are resolved against the URL.
    @Test func aUserNameInAReferenceIsSentButNotShown() throws {
        let base = try WebURL("https://h/v/media.m3u8")
        let url = try base.resolving("//us%20er:p%40ss@cdn.example/a/0.ts?x")
        #expect(url.text == "https://cdn.example/a/0.ts?x" && !"\(url)".contains("p@ss"))
        #expect(url.authorization?.value == "Basic dXMgZXI6cEBzcw==")
        #expect(try url == WebURL(url.text))
        for (reference, hasIt) in [
            ("1.ts", true), ("/1.ts", true), ("?y", true), ("//h/1.ts", false), ("http://cdn.example/", false),
        ] {
            #expect(try (url.resolving(reference).authorization != nil) == hasIt, "\(reference)")
        }
        #expect(try base.resolving("http://@h/").authorization == nil)
    }

    @Test func longAndDeepPathsAreReadInLinearTime() throws {
        let deep = String(repeating: "a/../", count: 100_000)
        #expect(try WebURL("http://h/" + deep).text == "http://h/")
        #expect(try WebURL("http://h/x").resolving(deep + "y").text == "http://h/y")
    }
}
