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

    private static let aacFrame: [UInt8] = [0xFF, 0xF1, 0x50, 0x80, 0x01, 0x1F, 0xFC]
    static let bodies: [(bytes: [UInt8], name: String?)] = [
        (
            [0x12, 0x34] + (0..<4).flatMap { _ in [0x47] + [UInt8](repeating: 1, count: 187) },
            "an MPEG transport stream"
        ),
        ([0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 0, count: 413) + [0xFF, 0xFB, 0x90, 0x64], "a sound file"),
        (aacFrame + [1, 2] + aacFrame, "a sound file"),
        (Array("--frame\r\nContent-Type: image/jpeg\r\n\r\n".utf8) + [0xFF, 0xD8, 0xFF], "a series of JPEG pictures"),
        (Array("[playlist]\nFile1=http://a/1.m3u8\n".utf8), "a PLS playlist"),
        (Array("<asx version=\"3.0\"><entry><ref href=\"http://a\"/></entry></asx>".utf8), "an ASX playlist"),
        (Array("<?xml version=\"1.0\"?><playlist xmlns=\"http://xspf.org/ns/0/\">".utf8), "an XSPF playlist"),
        (Array("WEBVTT\n\n00:01.000 --> 00:02.000\nHi\n".utf8), "subtitles"), (Array("BM6".utf8), nil),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "a picture"), ([0xFF, 0xD8, 0xFF, 0xE0], "a picture"),
        (Array("\0\0\0\u{18}stypmsdh".utf8), "a fragment of an MP4 file"),
        (Array("\0\0\0\u{18}moof".utf8), "a fragment of an MP4 file"), (Array("\0\0\0\u{18}moov".utf8), "an MP4 file"),
        ([0x1A, 0x45, 0xDF, 0xA3], "a WebM or Matroska file"), (Array("OggS".utf8), "a sound file"),
        (Array("fLaC".utf8), "a sound file"), (Array("FLV\u{1}".utf8), "a video file"),
        ([0, 0, 1, 0xBA, 0x44], "an MPEG program file"), (Array("RIFF\0\0\0\0WAVE".utf8), "a sound or video file"),
    ]

    @Test(arguments: bodies) func isRecognisedByItsFirstBytes(bytes: [UInt8], name: String?) {
        #expect(ForeignFormat(body: bytes)?.name == name)
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
