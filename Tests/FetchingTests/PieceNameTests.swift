import Testing

@testable import Fetching

@Suite struct PieceNameTests {
    @Test(
        arguments: [
            ("0.ts", PieceName.Role.segment(0), "ts"), ("12.m4s", .segment(12), "m4s"),
            ("init-0.mp4", .initialization(0), "mp4"), ("3.key", .key(3), "key"),
            ("live-7.m4s", .passing(7), "m4s"), ("data-5.json", .data(5), "json"),
            ("9223372036854775807.ts", .segment(.max), "ts"), ("7.webvtt", .segment(7), "webvtt"),
        ])
    func aNameIsReadAndWritten(_ text: String, _ role: PieceName.Role, _ fileExtension: String) {
        #expect(PieceName(text) == PieceName(role, fileExtension: fileExtension))
        #expect(PieceName(role, fileExtension: fileExtension).description == text)
    }

    @Test(
        arguments: [
            "", ".", ".ts", "0", "0.", "00.ts", "01.ts", "-0.ts", "-1.ts", "+1.ts", " 1.ts", "1 .ts", "1.TS", "1.t s",
            "1.ts.new", "1..ts", "1.ts/", "../1.ts", "init-.mp4", "init--0.mp4", "init-+0.mp4", "init-00.mp4",
            "INIT-0.mp4", "live-.ts", "live-01.ts", "data-.json", "a-1.ts", "media.m3u8", "1.abcdefghi",
            "9223372036854775808.ts",
            "１.ts", "0x1.ts",
        ])
    func anyOtherSpellingIsNoName(_ text: String) {
        #expect(PieceName(text) == nil)
    }

    @Test(
        arguments: [
            ("/a/0.ts", PieceName.Content.media, false, "ts"), ("/a/0.TS", .media, false, "ts"),
            ("/a/0.aac", .media, false, "aac"), ("/a/0.jpg", .media, false, "ts"), ("/a/0", .media, false, "ts"),
            ("/a.b/0", .media, false, "ts"), ("/", .media, false, "ts"), ("/a/0.php", .media, true, "m4s"),
            ("/a/0.m4s", .media, true, "m4s"), ("/a/0.mp4", .media, true, "mp4"), ("/a/0.ts", .media, true, "m4s"),
            ("/a/0.cmfv", .media, true, "cmfv"), ("/a/0.cmfa", .media, true, "m4s"),
            ("/a/0.vtt", .subtitles, false, "vtt"), ("/a/0.txt", .subtitles, false, "vtt"),
            ("/a/0.m4s", .subtitles, true, "m4s"), ("/a/0.key", .media, false, "ts"),
            ("/a/0.jpg", .images, false, "jpg"), ("/a/0.JPEG", .images, false, "jpeg"),
            ("/a/0.png", .images, false, "png"), ("/a/0.webp", .images, true, "webp"),
            ("/a/0.html", .images, false, "jpg"), ("/a/0", .images, false, "jpg"),
        ])
    func aSegmentGetsAnExtensionThatPlayersTake(
        _ path: String, _ content: PieceName.Content, _ hasMap: Bool, _ expected: String
    ) {
        #expect(PieceName.segmentExtension(forPath: path, content: content, hasMap: hasMap) == expected)
    }
}
