import Foundation
import HTTPMessage
import TestSupport
import Testing

@testable import Fetching

@Suite struct BodyVerdictTests {
    private func verdict(
        _ bytes: [UInt8], as name: String = "0.ts", range: Range<Int64>? = nil, isWhole: Bool = true,
        isCiphertext: Bool = false
    ) throws -> BodyVerdict {
        let resource = try Resource(
            name: #require(PieceName(name)), url: WebURL("http://origin.example/\(name)"), range: range)
        return BodyVerdict(of: bytes, as: resource, isWhole: isWhole, isCiphertext: isCiphertext)
    }

    @Test(arguments: [
        ("Gone", "text"), ("Access denied\n", "text"), ("Доступ запрещён", "text"), ("Gateway Timeout", "text"),
        (String(repeating: "error: expired token. ", count: 100), "text"), ("<!-- a --><html>       ", "HTML"),
        ("{\"a\": 1}", "JSON"),
        ("                                                                  ", "blank text"),
    ])
    func textIsNoMedia(_ text: String, _ found: String) throws {
        for name in ["0.ts", "0.m4s", "init-0.mp4", "0.vtt", "live-3.ts"] {
            #expect(try verdict(Array(text.utf8), as: name) == .imposter(found))
            #expect(try verdict(Array(text.utf8), as: name, isCiphertext: true) == .imposter(found))
        }
    }

    @Test(
        arguments: ["Gone", "404 page not found", "Доступ запрещён", "error code: 1020", "拒绝 access 😀"],
        [true, false])
    func textInUTF16IsNoMedia(_ text: String, isLittle: Bool) throws {
        let bytes = ("\u{FEFF}" + text).utf16.flatMap { unit in
            let pair = [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
            return isLittle ? pair : pair.reversed()
        }
        #expect(try verdict(bytes) == .imposter("text"))
        #expect(try verdict(bytes.dropLast(2) + bytes.suffix(2), as: "0.vtt") == .imposter("text"))
    }

    @Test(
        "A page in place of media is known in each form",
        arguments: [
            "<!-- %s -->", "<!DOCTYPE html><p>%s", "<html><body>%s", "<HTML>%s", "<head><title>%s",
            "<script>var a='%s'</script>",
            "<meta a='%s'>", "<title>%s</title>", "<h1>%s</h1>", "<center>%s", "<svg>%s</svg>", "<a href='%s'>",
            "<style>%s</style>", "<div>%s</div>", "<iframe src='%s'>", "<p>%s", "<noscript>%s", "<body>%s", "<br>%s",
            "<?xml version='1.0'?><Error>%s</Error>", "<Error>%s</Error>", "{\"error\": \"%s\"}",
            "[{\"error\": \"%s\"}]",
            "Access denied: %s", "error code: 1020 %s", "%s", "#EXTM3U\n# %s", "404 page not found %s", "<table>%s",
            "<img src='%s'>",
        ])
    func pages(_ page: String) throws {
        let text = page.replacing("%s", with: "hostile-8f3a61")
        let wide = ("\u{FEFF}" + text).utf16
        let forms: [[UInt8]] = [
            Array(text.utf8), Array((" \r\n\t\n" + text).utf8), [0xEF, 0xBB, 0xBF] + Array(text.utf8),
            wide.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] },
            wide.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] },
        ]
        for bytes in forms {
            guard case .imposter = try verdict(bytes) else {
                Issue.record("\(bytes.prefix(20)) of \(text)")
                continue
            }
        }
    }

    @Test func textIsKnownOnlyOnceThereIsEnoughOfIt() throws {
        let text = Array(String(repeating: "error. ", count: 200).utf8)
        #expect(try verdict(Array(text.prefix(600)), isWhole: false) == .unknown)
        #expect(try verdict(text, isWhole: false) == .imposter("text"))
        // A range of a file may begin inside a packet of text.
        #expect(try verdict(Array(text.prefix(600)), range: 100..<700) == .expected)
        #expect(try verdict(text, range: 100..<1500) == .imposter("text"))
    }

    @Test func cuesAreExpected() throws {
        let text = Array("WEBVTT\n\n00:01.000 --> 00:02.000\nGuten Tag\n".utf8)
        #expect(try verdict(text, as: "0.vtt") == .expected)
        #expect(try verdict([0xEF, 0xBB, 0xBF, 0x0A] + text, as: "0.vtt") == .expected)
        #expect(try verdict(Array("\r\n".utf8), as: "0.vtt") == .expected)
        #expect(try verdict(Array("\r\n".utf8), as: "0.ts") != .expected)
    }

    @Test(arguments: [
        (
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n<tt xmlns=\"http://www.w3.org/ns/ttml\">",
            "TTML subtitles"
        ),
        ("<tt xml:lang=\"de\" xmlns=\"http://www.w3.org/ns/ttml\"><body/></tt>", "TTML subtitles"),
        ("<tt:tt xmlns:tt=\"http://www.w3.org/ns/ttml\"><tt:body/></tt:tt>", "TTML subtitles"),
        ("<?xml version=\"1.0\"?><rss><channel/></rss>", "XML"), ("<ttable><tr><td>1</td></tr></ttable>", "HTML"),
    ])
    func markupOfSubtitlesIsNamed(_ text: String, _ found: String) throws {
        #expect(try verdict(Array(text.utf8), as: "0.vtt") == .imposter(found))
    }

    @Test func whatIsNothingKnownIsUnknown() throws {
        let (zeros, noise) = (
            [UInt8](repeating: 0, count: 4000), (0..<4000).map { UInt8(truncatingIfNeeded: 200 + $0 * $0 / 7) }
        )
        let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + zeros.prefix(60)
        for bytes in [zeros, noise, picture] {
            #expect(try verdict(bytes) == .unknown)
            #expect(try verdict(bytes, isCiphertext: true) == .expected)
            #expect(try verdict(bytes, range: 5..<4005) == .expected)
            #expect(try verdict(bytes, as: "0.key") == .expected)
        }
        #expect(try verdict(picture, as: "0.png") == .expected)
        #expect(try verdict(noise, as: "0.png") == .unknown)
    }
}
