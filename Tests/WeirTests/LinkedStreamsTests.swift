import Daemon
import Testing

@Suite struct LinkedStreamsTests {
    @Test(arguments: [
        ("weir://https://h/a.m3u8?x=1", "https://h/a.m3u8?x=1"), ("weir://https//h/a.m3u8", "https://h/a.m3u8"),
        ("weir:http://h/a", "http://h/a"), ("WEIR://http//h/a", "http://h/a"), ("https://h/a", "https://h/a"),
    ])
    func aLinkHasOneURL(word: String, url: String) throws {
        #expect(try LinkedStreams(word) { _ in nil }.urls == [url])
    }

    @Test(arguments: [
        "weir://sintel", "weir://file:///etc/passwd", "weir://https://u:p@h/a", "weir://", "weir://--play", "ftp://h/a",
        "weir://javascript:alert(1)", "weir://skd://h/a", "/none.m3u8",
    ])
    func anythingElseIsRefused(word: String) {
        #expect(throws: LinkedStreams.Refusal.self) { try LinkedStreams(word) { _ in nil } }
    }

    @Test(arguments: [
        (
            "#EXTM3U\n#EXTINF:-1,A\nhttp://h/1.m3u8\n#EXTINF:-1,B\nb.m3u8\n#EXTINF:-1,C\nhttp://h/1.m3u8\n",
            ["http://h/1.m3u8"]
        ),
        (
            "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttps://h/1.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\n2.m3u8\n",
            ["https://h/1.m3u8"]
        ),
        ("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nhttps://h/1.ts\n#EXT-X-ENDLIST\n", []),
        ("#EXTM3U\n#EXTINF:-1,A\nfile:///etc/passwd\n#EXTINF:-1,B\n/etc/passwd\n", []), ("", []),
    ])
    func aFileHasItsAbsoluteURLs(text: String, urls: [String]) {
        for word in ["/a.m3u8", "file:///a.m3u8"] {
            let found = try? LinkedStreams(word) { $0 == "/a.m3u8" ? Array(text.utf8) : nil }
            #expect(found?.urls ?? [] == urls, "\(word)")
        }
    }
}
