import Testing

@testable import HTTPMessage

@Suite struct CurlCommandTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: [String]
        let url: String
        var fields: [String] = []
        var proxy: String?
        var isInsecure = false
    }

    static let cases = [
        Case(testDescription: "a URL", words: ["curl", "https://h/a.m3u8?x=1"], url: "https://h/a.m3u8?x=1"),
        Case(testDescription: "a URL without a scheme", words: ["/usr/bin/curl", "h/a"], url: "http://h/a"),
        Case(
            testDescription: "Chromium's form",
            words: [
                "curl", "https://h/a.m3u8", "-H", "accept: */*", "-H", "accept-language: de", "-b", "sid=1; t=2", "-H",
                "origin: https://s", "-H", "priority: u=1, i", "-H", "referer: https://s/", "-H",
                "sec-fetch-mode: cors",
                "-H", "user-agent: Mozilla/5.0", "--compressed",
            ], url: "https://h/a.m3u8",
            fields: [
                "accept-language: de", "Cookie: sid=1; t=2", "origin: https://s", "referer: https://s/",
                "user-agent: Mozilla/5.0",
            ]),
        Case(
            testDescription: "Firefox's form",
            words: [
                "curl", "https://h/a.m3u8", "--compressed", "-X", "GET", "-H", "User-Agent: F", "-H",
                "Accept-Encoding: gzip",
                "-H", "Cookie: a=b", "-H", "Range: bytes=0-", "-H", "Connection: keep-alive",
            ], url: "https://h/a.m3u8", fields: ["User-Agent: F", "Cookie: a=b"]),
        Case(
            testDescription: "short options in one word",
            words: ["curl", "-skLH", "A: b", "-XGET", "-ofile", "-m", "3", "-Aagent", "-e", "r;auto", "https://h/a"],
            url: "https://h/a", fields: ["A: b", "User-Agent: agent", "Referer: r"], isInsecure: true),
        Case(
            testDescription: "a password and a proxy",
            words: [
                "curl", "--user", "me:p@ss", "-x", "proxy:3128", "--output", "f", "--url", "https://h/a", "--insecure",
            ],
            url: "https://me:p%40ss@h/a", proxy: "http://proxy:3128", isInsecure: true),
        Case(
            testDescription: "fields that are replaced, removed or of HTTP/2",
            words: ["curl", "h", "-H", "X: 1", "-H", "x: 2", "-H", "Y:", "-H", "Z;", "-H", ":authority: h"],
            url: "http://h",
            fields: ["x: 2"]),
        Case(testDescription: "a URL behind --", words: ["curl", "--", "-odd"], url: "http://-odd"),
        Case(testDescription: "unknown options", words: ["curl", "--future", "-7", "https://h/"], url: "https://h/"),
    ]

    @Test(arguments: cases) func isRead(example: Case) throws {
        let command = try CurlCommand(example.words)
        #expect(command.url == example.url && command.fields == example.fields)
        #expect(command.proxy == example.proxy && command.isInsecure == example.isInsecure)
    }

    @Test(arguments: [
        ([], CurlCommand.Mistake.noCommand), (["wget", "https://h"], .noCommand), (["curl"], .noURL),
        (["curl", "-H", "A: b"], .noURL), (["curl", "a", "b"], .severalURLs),
        (["curl", "a", "-X", "POST"], .method("POST")),
        (["curl", "a", "--data-raw", "hush"], .method("a body")), (["curl", "a", "-d", "hush"], .method("a body")),
        (["curl", "a", "-H"], .noValue("-H")), (["curl", "a", "--header"], .noValue("--header")),
        (["curl", "a", "-H", "A: b", "-H", "hush"], .field(2)), (["curl", "a", "-H", "A: hush\r\nB: c"], .field(1)),
        (["curl", "a", "-b", "cookies.txt"], .cookieFile),
    ])
    func isRefused(words: [String], mistake: CurlCommand.Mistake) {
        #expect(throws: mistake) { try CurlCommand(words) }
        #expect(!mistake.description.contains("hush"))
    }
}
