import HTTPMessage
import Testing

@Suite struct ValidatorTests {
    @Test func tagsAreComparedStronglyAndWeakly() throws {
        let strong = try #require(EntityTag("a"))
        let weak = try #require(EntityTag("a", isWeak: true))
        #expect(strong.matchesStrongly(strong))
        #expect(!weak.matchesStrongly(weak))
        #expect(!strong.matchesStrongly(weak))
        #expect(strong.matchesWeakly(weak))
        #expect(weak.description == "W/\"a\"")
    }

    @Test(arguments: ["", "a", "\"a", "a\"", "\"a\"b", "w/\"a\"", "\"a b\"", "\"a\", \"b\""])
    func aMalformedTagIsRefused(value: String) {
        #expect(EntityTag(fieldValue: value.utf8) == nil)
    }

    @Test(arguments: [
        ("\"a\"", true), ("W/\"a\"", true), ("*", true), ("\"b\", \"a\"", true), ("\"b\",W/\"a\" ", true),
        (", \"a\"", true), ("\"x,\"a\"", false), ("\"b\"", false), ("a", false), ("", false), ("\"b\" \"a\"", false),
    ])
    func aListNamesATag(list: String, isNamed: Bool) throws {
        #expect(try #require(EntityTag("a")).isNamed(inList: list.utf8) == isNamed)
    }

    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (1_795_222_800, "Sat, 21 Nov 2026 01:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(Int64, String)])
    func aDateIsWrittenAndRead(seconds: Int64, text: String) {
        #expect(HTTPDate(secondsSinceEpoch: seconds).description == text)
        #expect(HTTPDate(text)?.secondsSinceEpoch == seconds)
    }

    @Test(arguments: [
        "", "Sun, 6 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1969 08:49:37 GMT",
    ])
    func aMalformedDateIsRefused(text: String) {
        #expect(HTTPDate(text) == nil)
    }

    @Test func retryAfterIsSecondsOrADate() {
        let now = HTTPDate(secondsSinceEpoch: 784_111_777)
        #expect(RetryAfter("120")?.delay(from: now) == 120)
        #expect(RetryAfter("Sun, 06 Nov 1994 08:50:37 GMT")?.delay(from: now) == 60)
        #expect(RetryAfter("Sun, 06 Nov 1994 08:00:00 GMT")?.delay(from: now) == 0)
        #expect(RetryAfter("-1") == nil)
        #expect(RetryAfter("soon") == nil)
    }

    @Test func cacheStatusDescribesTheResponse() {
        #expect(CacheStatus.hit.description == "Weir; hit")
        var status = CacheStatus.forwarded(.uriMiss, isStored: true, isCollapsed: true)
        status.forwardStatus = HTTPStatus(503)
        status.detail = "a\"\\\r\nb"
        #expect(status.description == "Weir; fwd=uri-miss; fwd-status=503; stored; collapsed; detail=\"a\\\"\\\\b\"")
    }

    @Test(arguments: [
        ("m3u8", "application/vnd.apple.mpegurl"), ("TS", "video/mp2t"), ("m4s", "video/mp4"), ("cmfa", "audio/mp4"),
        ("vtt", "text/vtt"), ("aac", "audio/aac"), ("key", "application/octet-stream"),
        ("", "application/octet-stream"),
    ])
    func anExtensionHasAMediaType(fileExtension: String, text: String) {
        #expect(MediaType(forExtension: fileExtension).description == text)
        #expect(MediaType(forPath: "/a.b/c.\(fileExtension)").description == text)
    }

    @Test func aForeignMediaTypeIsChecked() {
        #expect(MediaType("Text/HTML ; charset=x")?.essence == "text/html")
        #expect(MediaType("text/html\r\nA: b") == nil)
        #expect(MediaType("nonsense") == nil)
    }
}
