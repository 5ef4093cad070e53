import HLS
import Testing

@testable import Assets
@testable import Fetching

@Suite struct AssetNamingTests {
    @Test(
        arguments: [
            ("/vod/sintel/master.m3u8", "sintel"), ("/vod/sintel.m3u8", "sintel"), ("/a/prog_index.m3u8", "a"),
            ("/My%20Film%3A%202/index.m3u8", "my-film-2"), ("/Big__Buck--Bunny.m3u8", "big-buck-bunny"),
            ("/", "stream"), ("/master.m3u8", "stream"), ("/hls/live/playlist.m3u8", "stream"),
            ("/x/.m3u8", "x"),
            ("/caf%C3%A9/master.m3u8", "café"), ("/Cafe%CC%81/master.m3u8", "caf\u{e9}"),
            ("/%E3%83%95%E3%82%A3%E3%83%AB%E3%83%A0/index.m3u8", "フィルム"), ("/Das%20Gl%C3%BCck!.m3u8", "das-glück"),
            ("/100%/a%zz.m3u8", "a-zz"),
            ("/" + String(repeating: "ab", count: 40) + "/index", String(repeating: "ab", count: 20)),
        ])
    func aNameIsTheLastDescriptiveComponentOfThePath(_ path: String, _ name: String) {
        // Byte for byte: texts in NFC and NFD are equal.
        #expect(Array(AssetNaming.name(forPath: path).utf8) == Array(name.utf8))
        #expect(AssetNaming.isName(name))
    }

    @Test(arguments: [
        "", "A", "a b", "a--b", "-a", "a-", "a_b", "a/b", "É", "a.b",
        "a\u{202E}b", "é!", "a" + String(repeating: "\u{301}", count: 90), String(repeating: "a", count: 41),
    ])
    func otherNamesAreRefused(_ name: String) {
        #expect(!AssetNaming.isName(name))
        let reason =
            name.count > 40 ? "it has more than 40 characters" : "use small letters, digits and single dashes"
        #expect(AssetNaming.flaw(of: name) == "\"\(name)\" is no name: \(reason)")
    }

    @Test(arguments: ["a", "api", "offline", "local", "metrics", "keys", "http", "2001"])
    func aNameMayBeAReservedWordOfURLs(_ name: String) {
        #expect(AssetNaming.isName(name))
    }

    /// The last character may have an accent of its own.
    @Test(arguments: [
        ("News 24 HD", "news-24-hd"), ("--A..B--", "a-b"), ("", ""), ("\r\n \t", ""),
        (a39 + "bc", a39 + "b"), (a39 + " b", a39), (a39 + "e\u{301}", a39 + "\u{E9}"),
    ])
    func aTitleMakesAName(title: String, name: String) {
        #expect(AssetNaming.slug(title[...]) == name)
    }

    private static let a39 = String(repeating: "a", count: 39)

    @Test func aTakenNameGetsTheFirstFreeNumber() {
        let taken: Set = ["a", "a-2", "a-3"]
        #expect(AssetNaming.unique("a", isTaken: taken.contains) == "a-4")
        #expect(AssetNaming.unique("b", isTaken: taken.contains) == "b")
    }

    @Test func anIDIsTheNameWithAUniqueSuffix() {
        var asked: [String] = []
        let id = AssetNaming.id(forName: "sintel") { id in
            asked.append(id)
            return asked.count < 3
        }
        #expect(asked.count == 3)
        #expect(asked.last == id)
        #expect(id.hasPrefix("sintel-") && id.utf8.count == 11)
        // Folders and paths are of ASCII.
        #expect(AssetNaming.id(forName: "das-glück") { _ in false }.hasPrefix("das-gl-ck-"))
        #expect(AssetNaming.id(forName: "фильм") { _ in false }.hasPrefix("asset-"))
    }
}

@Suite struct RenditionNamingTests {
    private func names(_ lines: String...) throws -> [RenditionNaming.Name] {
        let text = (["#EXTM3U"] + lines).joined(separator: "\n") + "\n"
        guard case .multivariant(let playlist) = try Playlist.parse(Array(text.utf8)) else { return [] }
        return RenditionNaming(playlist).names
    }

    @Test func eachKindOfRenditionHasAPrefix() throws {
        let names = try names(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"English\",LANGUAGE=\"en\",URI=\"en\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Director's Cut\",URI=\"cut\"",
            "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"s\",NAME=\"Deutsch\",LANGUAGE=\"de-AT\",URI=\"de\"",
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"日本語\",URI=\"jp\"",
            "#EXT-X-MEDIA:TYPE=CLOSED-CAPTIONS,GROUP-ID=\"c\",NAME=\"CC\",INSTREAM-ID=\"CC1\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720,AUDIO=\"a\"", "720",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"mp4a.40.2\"", "sound",
            "#EXT-X-STREAM-INF:BANDWIDTH=1", "what",
            "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720,URI=\"trick\"")
        #expect(
            names.map(\.id) == [
                "audio-en", "audio-director-s-cut", "subtitles-de-at", "audio-2", "video-720p", "audio", "video",
                "iframes-720p",
            ])
        #expect(names.map(\.isIFramesOnly) == [false, false, false, false, false, false, false, true])
        #expect(names.map(\.content).filter { $0 == .subtitles }.count == 1)
    }

    @Test func equalNamesAreNumberedAndSharedRenditionsHaveOneName() throws {
        let names = try names(
            "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720", "a",
            "#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=1280x720", "b",
            "#EXT-X-STREAM-INF:BANDWIDTH=3,RESOLUTION=1280x720,AUDIO=\"x\"", "a")
        #expect(names.map(\.id) == ["video-720p", "video-720p-2"])
    }

    /// The loop must not stand still for the names of the largest playlist.
    @Test(.timeLimit(.minutes(1))) func namesTenThousandVariantsOfOneHeight() throws {
        let lines = (1...10_000).map { "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1280x720\n\($0).m3u8\n" }
        guard case .multivariant(let playlist) = try Playlist.parse(Array(("#EXTM3U\n" + lines.joined()).utf8)) else {
            Issue.record("not a multivariant playlist")
            return
        }
        let ids = RenditionNaming(playlist).names.map(\.id)
        #expect(Set(ids).count == 10_000 && ids.last == "video-720p-10000")
        // Each of these could be compared with all others.
        #expect(playlist.possibleMirrors.values.map(\.count).max() == 8)
    }

    @Test func aMaliciousLanguageGivesASafeFolderName() throws {
        let names = try names(
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"../../etc\",LANGUAGE=\"/../..\",URI=\"u\"",
            "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"", "v")
        #expect(names.map(\.id) == ["audio", "video"])
    }
}
