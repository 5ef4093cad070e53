import HTTPMessage
import Testing

@testable import Fetching

@Suite struct BodyOddityTests {
    private static let bitmap = Array("BM".utf8) + [62, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]

    @Test(
        arguments: [
            ("0.ts", Array("GIF89a".utf8) + [1, 0], "begins with a GIF picture"),
            ("0.ts", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "begins with a PNG picture"),
            ("0.ts", bitmap, "begins with a BMP picture"), ("0.ts", [0xFF, 0xD8, 0xFF, 0xE0], nil),
            ("0.png", [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], nil), ("0.ts", [0x47, 0x40, 0x11, 0x10], nil),
            ("0.ts", Array("BM, a text".utf8), nil), ("0.ts", [], nil),
            ("0.vtt", Array("1\n00:00:00,000 --> 00:00:01,500\nHallo\n".utf8), "is SubRip text"),
            ("0.vtt", Array("WEBVTT\n\n00:00.000 --> 00:01.500\nHallo\n".utf8), nil),
            ("0.key", Array("00112233445566778899AABBCCDDEEFF".utf8), "is written in hexadecimal digits"),
            ("0.key", [UInt8](0..<16), nil), ("init-0.mp4", Array("GIF89a".utf8), nil),
        ] as [(String, [UInt8], String?)])
    func oddities(_ name: String, _ bytes: [UInt8], _ words: String?) throws {
        let resource = try Resource(
            name: #require(PieceName(name)), url: WebURL("http://origin.example/\(name)"), range: nil)
        let sentence = BodyOddity.sentence(about: bytes, as: resource)
        #expect(words.map { sentence?.hasPrefix($0) == true } ?? (sentence == nil), "\(sentence ?? "nothing")")
    }
}
