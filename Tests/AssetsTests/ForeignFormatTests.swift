import Testing

@testable import Assets

@Suite struct ForeignFormatTests {
    @Test(arguments: [
        ("https://h/a/manifest.mpd?x=1", ForeignFormat.dash), ("https://h/a.ism/Manifest", .smoothStreaming),
        ("https://h/a.MP4#t=1", .file("an MP4 file")), ("http://h/live/1.ts", .file("an MPEG transport stream")),
        ("https://h/a.m3u8?file=b.mp4", nil), ("https://h/watch", nil), ("https://h.mp4/", nil), ("", nil),
    ])
    func isRecognisedByItsAddress(url: String, format: ForeignFormat?) {
        #expect(ForeignFormat(url: url) == format)
    }

    @Test(arguments: [
        ("<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\">", ForeignFormat.dash),
        ("<?xml version=\"1.0\"?><SmoothStreamingMedia Version=\"2\">", .smoothStreaming),
        ("<!DOCTYPE html><html><body>Film</body></html>", .page), ("\0\0\0\u{18}ftypmp42", .file("an MP4 file")),
        ("ID3\u{3}", .file("a sound file")), ("#EXTM3U\n", nil), ("{\"a\": 1, \"b\": 22222}", nil), ("", nil),
    ])
    func isRecognisedByItsContent(text: String, format: ForeignFormat?) {
        #expect(ForeignFormat(body: Array(text.utf8)) == format)
    }
}
