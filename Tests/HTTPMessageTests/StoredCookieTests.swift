import HTTPMessage
import Testing

/// Cookie files in Netscape's format.
@Suite struct StoredCookieTests {
    @Test(arguments: [
        (".example.com\tTRUE\t/\tFALSE\t0\ta\tb", ".example.com\tTRUE\t/\tFALSE\t0\ta\tb"),
        ("Example.com\tFALSE\t/x\tTRUE\t1900000000\ta\tb\r", "example.com\tFALSE\t/x\tTRUE\t1900000000\ta\tb"),
        (
            "#HttpOnly_.e.org\ttrue\t/\tTRUE\t1900000000.25\ta\tb=c;d",
            "#HttpOnly_.e.org\tTRUE\t/\tTRUE\t1900000000\ta\tb=c;d"
        ),
        ("e.org\tFALSE\t/\tFALSE\t\ta\t", "e.org\tFALSE\t/\tFALSE\t0\ta\t"),
        ("e.org\tFALSE\t/\tFALSE\t-1\ta", "e.org\tFALSE\t/\tFALSE\t0\ta\t"),
    ])
    func lineIsReadAndWrittenInOneForm(line: String, form: String) throws {
        let cookie = try #require(StoredCookie(line.utf8))
        #expect(cookie.line == form)
        #expect(StoredCookie(cookie.line.utf8) == cookie)
        #expect(cookie.name == "a" && !"\(cookie)".contains("b"))
    }

    @Test(arguments: [
        "..\tFALSE\t/\tFALSE\t0\ta\tb",
        "", "#", "# Netscape HTTP Cookie File", "e.org FALSE / FALSE 0 a b", "e.org\tFALSE\t/\tFALSE\t0",
        "\tFALSE\t/\tFALSE\t0\ta\tb", "e.org\tFALSE\tx\tFALSE\t0\ta\tb", "e.org\tFALSE\t/\tFALSE\t0\t\tb",
        "e.org\tFALSE\t/\tFALSE\t0\ta\tb\tc", "e/org\tFALSE\t/\tFALSE\t0\ta\tb", "e.org\tFALSE\t/\tFALSE\t0\ta\tb\u{1}",
        "e.org\tFALSE\t/\tFALSE\t0\ta\t" + String(repeating: "b", count: 5000), ".\tTRUE\t/\tFALSE\t0\ta\tb",
    ])
    func otherLinesAreIgnored(line: String) {
        #expect(StoredCookie(line.utf8) == nil)
    }

    @Test(arguments: [
        ("e.org", false, "e.org", true), ("e.org", false, "a.e.org", false), (".e.org", true, "e.org", true),
        (".e.org", true, "a.b.e.org", true), (".e.org", true, "ee.org", false), (".org", true, "e.org", false),
        ("a.e.org", true, "e.org", false),
    ])
    func domainsMatchAsBrowsersMatchThem(domain: String, isWide: Bool, host: String, matches: Bool) throws {
        let cookie = try #require(StoredCookie("\(domain)\t\(isWide ? "TRUE" : "FALSE")\t/\tFALSE\t0\ta\tb".utf8))
        #expect(cookie.matches(host: host) == matches)
    }

    @Test func fileMayHaveCommentsAndOtherLines() {
        let text =
            "# Netscape HTTP Cookie File\n\ne.org\tFALSE\t/\tFALSE\t0\ta\tb\nrubbish\r\n.f.org\tTRUE\t/\tTRUE\t9\tc\td\r\n"
        #expect(StoredCookie.all(in: Array(text.utf8)).map(\.name) == ["a", "c"])
        #expect(StoredCookie.all(in: [0xFF, 0x0A, 0x00, 0x09]).isEmpty)
    }
}

/// User names and passwords in URLs.
@Suite struct UserInformationTests {
    @Test(
        arguments: [
            ("https://u:p@h/x?y@z", "https://h/x?y@z", "Basic dTpw"), ("http://u@h:8/", "http://h:8/", "Basic dTo="),
            ("http://a%40b:c%3Ad@h/", "http://h/", "Basic YUBiOmM6ZA=="),
            ("http://u:a@b@h/", "http://h/", "Basic dTphQGI="),
            ("http://@h/", "http://h/", nil), ("http://h/a@b", "http://h/a@b", nil), ("film", "film", nil),
            ("", "", nil),
            ("http://h?u:p@x", "http://h?u:p@x", nil),
        ] as [(String, String, String?)])
    func becomesABasicField(text: String, url: String, value: String?) {
        let split = UserInformation(splitting: text)
        #expect(split.url == url)
        #expect(split.field?.value == value)
    }
}
