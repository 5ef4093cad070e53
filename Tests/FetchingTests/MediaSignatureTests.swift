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
