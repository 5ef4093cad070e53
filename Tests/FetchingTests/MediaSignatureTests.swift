import Testing

@testable import Fetching

@Suite struct MediaSignatureTests {
    @Test(
        arguments: [
            ("<!DOCTYPE html><html>", "HTML"), ("\u{FEFF}<html lang=\"en\"><head>", "HTML"),
            ("\r\n\t <HTML><body>Sign in", "HTML"), ("<?xml version=\"1.0\"?><Error>", "XML"),
            ("{\"error\": \"expired\"}", "JSON"), ("{ \"error\": 1 }", "JSON"), ("{}", "JSON"), ("[{\"a\":1}]", "JSON"),
            ("#EXTM3U\n#EXT-X-VERSION:3\n", "a playlist"),
        ])
    func recognizesATextPage(_ text: String, _ name: String) {
        #expect(MediaSignature.imposter(in: Array(text.utf8)) == name)
    }

    /// Pages begin in many ways, with blanks, and in UTF-16.
    @Test(
        arguments: [
            "<!-- a -->", "<script>var a", "<meta charset=", "<title>Login", "<h1>Forbidden", "<center><h1>403",
            "<svg xmlns=",
            "<a href=\"/login\">", "<style>body{}", "<div class=\"e\">", "<iframe src=", "<p>Not found", "<noscript>On",
        ])
    func recognizesAPageInAnyForm(_ text: String) {
        let text = text + "                "
        for form in [text, "  \r\n" + text, "\u{FEFF}" + text] {
            #expect(MediaSignature.imposter(in: Array(form.utf8)) == "HTML")
            let units = Array(form.utf16)
            #expect(MediaSignature.imposter(in: units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }) == "HTML")
            #expect(MediaSignature.imposter(in: units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }) == "HTML")
        }
    }

    @Test func recognizesBlankText() {
        #expect(MediaSignature.imposter(in: [UInt8](repeating: 0x20, count: 64)) == "blank text")
        #expect(MediaSignature.imposter(in: [UInt8](repeating: 0, count: 64)) == nil)
        #expect(MediaSignature.imposter(in: [0xFF, 0xFE] + [UInt8](repeating: 0, count: 62)) == nil)
    }

    @Test(arguments: [
        [], [0x47], Array("WEBVTT\n\n00:00".utf8), Array("G000000000000 /_size/1.ts".utf8), [0, 0, 0, 24],
    ])
    func doesNotMistakeMedia(_ bytes: [UInt8]) {
        #expect(MediaSignature.imposter(in: bytes) == nil)
    }

    @Test(arguments: ["{\"", "{", "[", "<html"])
    func encryptedBytesThatBeginLikeAPageAreNotTakenForOne(_ beginning: String) {
        #expect(MediaSignature.imposter(in: Array(beginning.utf8) + [0x41, 0x9C, 0x20, 0xE1, 0x07]) == nil)
    }
}
