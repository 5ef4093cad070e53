import Foundation
import HLS
import HTTPMessage
import Origin
import TestSupport
import Testing

@testable import PlaylistCheck

/// Checks over a real origin that errs as told.
@Suite("A check of a URL")
struct URLCheckTests {
    private let folder: TemporaryFolder
    private static let media = """
        #EXTM3U
        #EXT-X-VERSION:3
        #EXT-X-TARGETDURATION:6
        #EXTINF:6.0,
        0.ts
        #EXT-X-ENDLIST

        """

    init() throws { folder = try TemporaryFolder() }

    private func master(_ uris: String...) -> String {
        "#EXTM3U\n#EXT-X-VERSION:8\n"
            + uris.map { "#EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS=\"avc1.4d401f\"\n\($0)\n" }.joined()
    }

    private func write(_ files: [String: String]) throws {
        for (name, text) in files {
            try folder.write(Data(text.utf8), to: name)
        }
    }

    private func originCode(_ origin: TestOrigin) async throws -> OriginError.Code? {
        let failure = try await CheckReport.ofURL(origin.master("ts")).failure
        return failure?.code == .origin ? (failure?.underlying as? OriginError)?.code : nil
    }

    /// The findings of a report: path of the playlist, line, severity and code.
    private func told(_ report: CheckReport) -> [String] {
        report.playlists.flatMap { playlist in
            let file = playlist.name.split(separator: "/", maxSplits: 2).last.map(String.init) ?? ""
            return playlist.diagnostics.map { "\(file):\($0.line ?? 0) \($0.severity) \($0.code)" }
        }
    }

    @Test("reads all playlists once and asks for nothing else", arguments: ["ts", "cmaf", "aes"])
    func fixture(name: String) async throws {
        let origin = try await TestOrigin()
        let report = try await CheckReport.ofURL(origin.master(name))
        #expect(report.failure == nil && report.count(of: .error) == 0)
        let paths = try await origin.requests().map(\.path)
        #expect(paths.allSatisfy { $0.hasSuffix(".m3u8") } && Set(paths).count == paths.count)
        #expect(paths.map { origin.url($0) }.sorted() == report.playlists.map(\.name).sorted())
        #expect(paths.count == (name == "cmaf" ? 10 : name == "ts" ? 4 : 3))
        #expect(report.playlists[0].name == origin.master(name))
    }

    @Test("reports a failed request with the playlist and the line that names it")
    func missing() async throws {
        let origin = try await TestOrigin()
        try await origin.add(
            OriginRule("*/video-90p/media.m3u8") { $0.status = 404 },
            OriginRule("*/video-90p/iframes.m3u8") { $0.status = 500 })
        let report = try await CheckReport.ofURL(origin.url("/cmaf/master.m3u8?token=secret"))
        #expect(report.count(of: .error) == 1 && report.failure == nil)
        let found = report.playlists.flatMap(\.diagnostics)
        let missing = try #require(found.first { $0.code == "notFound" })
        #expect(missing.message == "was not found (404); line 8 of the multivariant playlist names it")
        #expect(missing.clause == "RFC 9110 §15" && missing.line == nil)
        // Without pictures for seeking, players play.
        #expect(found.first { $0.code == "serverFailure" }?.severity == .warning)
        #expect(!"\(report)".contains("secret"))
        #expect(try await origin.requests().map(\.path).filter { $0.contains("video-90p") }.count == 2)
    }

    @Test("follows and reports redirects, and resolves URIs against the final URL")
    func redirects() async throws {
        try write(["b/real.m3u8": master("media.m3u8"), "b/media.m3u8": Self.media])
        let origin = try await TestOrigin(root: folder.path)
        try await origin.add(OriginRule("/a/master.m3u8") { $0.redirect = "/b/real.m3u8?token=secret" })
        let report = try await CheckReport.ofURL(origin.url("/a/master.m3u8"))
        #expect(told(report) == ["a/master.m3u8:0 note redirected"])
        #expect(report.playlists.map(\.name) == [origin.url("/a/master.m3u8"), origin.url("/b/media.m3u8")])
        #expect(!"\(report)".contains("secret"))
    }

    @Test("reports a wrong Content-Type: an error if the name is not a playlist's either")
    func contentTypes() async throws {
        try write(["m.m3u8": Self.media, "m": Self.media])
        let origin = try await TestOrigin(root: folder.path)
        for (path, type, expected) in [
            ("m.m3u8", "audio/mpegurl", []), ("m.m3u8", "Application/X-MPEGURL; charset=utf-8", ["note"]),
            ("m.m3u8", "text/plain", ["warning"]), ("m", "text/plain", ["error"]), ("m", "audio/mpegurl", []),
        ] {
            try await origin.replaceRules(with: OriginRule("*") { $0.contentType = type })
            let report = try await CheckReport.ofURL(origin.url("/" + path))
            #expect(told(report) == expected.map { "\(path):0 \($0) contentType" }, "\(type)")
        }
    }

    @Test("reports bodies beyond the limits, compressed ones too, and bodies that are not playlists")
    func bodies() async throws {
        try write([
            "master.m3u8": master("large.m3u8", "bomb.m3u8", "html.m3u8", "cut.m3u8"),
            "large.m3u8": Self.media + String(repeating: "#\n", count: 32 << 20), "html.m3u8": "<html></html>",
            "cut.m3u8": String(Self.media.prefix(60)),
        ])
        let bomb = "(echo '#EXTM3U'; head -c 30000000 /dev/zero) | gzip > \(folder.path("bomb.m3u8"))"
        #expect(try await ProcessRunner.run("sh", ["-c", bomb]).exit == .code(0))
        let origin = try await TestOrigin(root: folder.path)
        try await origin.add(OriginRule("/bomb.m3u8") { $0.headers = ["Content-Encoding": "gzip"] })
        let report = try await CheckReport.ofURL(origin.url("/master.m3u8"))
        #expect(
            told(report).filter { !$0.contains("/master") && !$0.contains("warning") } == [
                "large.m3u8:0 error tooLarge", "bomb.m3u8:0 error tooLarge",
                "html.m3u8:1 error notAPlaylist", "cut.m3u8:4 error missingURI",
            ])
        let alone = try await CheckReport.ofURL(origin.url("/bomb.m3u8"))
        #expect(alone.failure?.code == .tooLarge && told(alone) == ["bomb.m3u8:0 error tooLarge"])
    }

    @Test("reports invalid URIs, cycles, nested multivariant playlists and private hosts")
    func references() async throws {
        try write([
            "master.m3u8": master(
                "ftp://h/a.m3u8", "master.m3u8", "other.m3u8", "http://127.0.0.2:9/a.m3u8", "media.m3u8"),
            "other.m3u8": master("more.m3u8"),
            "media.m3u8": Self.media.replacingOccurrences(of: "0.ts", with: "file:///etc/passwd"),
        ])
        let origin = try await TestOrigin(root: folder.path)
        let report = try await CheckReport.ofURL(origin.url("/master.m3u8"))
        let errors = told(report).filter { $0.contains("error") }
        #expect(
            errors == [
                "master.m3u8:4 error unresolvable", "master.m3u8:6 error selfReference",
                "master.m3u8:8 error notMedia",
                "a.m3u8:0 error refusedAddress", "media.m3u8:5 error unresolvable",
            ])
        #expect(try await origin.requests().map(\.path).filter { $0.contains("more") }.isEmpty)
        try write(["loop.m3u8": master("loop.m3u8")])
        let loop = try await CheckReport.ofURL(origin.url("/loop.m3u8"))
        #expect(told(loop) == ["loop.m3u8:4 error selfReference"])
    }

    @Test("bounds what it reads, and says what it leaves out")
    func bounds() async throws {
        let names = (0..<9).map { "\($0).m3u8" }
        let lines = names.map { "#EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS=\"avc1.4d401f\"\n\($0)\n" }.joined()
        try write(["master.m3u8": "#EXTM3U\n" + lines])
        for name in names {
            try write([name: Self.media])
        }
        let origin = try await TestOrigin(root: folder.path)
        let source = OriginCheckSource(entry: try WebURL(origin.url("/master.m3u8")))
        let impatient = await PresentationReader(source: source, timeLimit: .zero).run()
        #expect(told(impatient).filter { $0.hasSuffix("warning notRead") }.count == 9)
        #expect(try await origin.requests().count == 1)
        // Those under way are read to their end.
        let modest = await PresentationReader(source: source, byteLimit: 10).run()
        let left = told(modest).filter { $0.hasSuffix("warning notRead") }.count
        #expect((1...3).contains(left) && modest.playlists.count == 10 && modest.count(of: .error) == 0)
    }

    @Test("gives media playlists the variables of what named them, and those of their query")
    func variables() async throws {
        let defined = "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"0\"\n"
        try write([
            "master.m3u8": master("media.m3u8?b=ts").replacingOccurrences(
                of: "#EXT-X-VERSION:8\n", with: "#EXT-X-VERSION:8\n" + defined),
            "media.m3u8": Self.media.replacingOccurrences(of: "0.ts", with: "{$a}.{$b}").replacingOccurrences(
                of: "#EXT-X-VERSION:3",
                with: "#EXT-X-VERSION:11\n#EXT-X-DEFINE:IMPORT=\"a\"\n#EXT-X-DEFINE:QUERYPARAM=\"b\""),
        ])
        let origin = try await TestOrigin(root: folder.path)
        #expect(try await CheckReport.ofURL(origin.url("/master.m3u8")).count(of: .error) == 0)
        // Alone, it has nothing to import from.
        let alone = try await CheckReport.ofURL(origin.url("/media.m3u8?b=ts"))
        #expect(told(alone).contains { $0.hasSuffix(":3 warning missingVariable") })
    }

    @Test("that has nothing to read says why")
    func failures() async throws {
        let origin = try await TestOrigin()
        #expect(try await CheckReport.ofURL(origin.url("/none.m3u8")).failure?.code == .notFound)
        try await origin.add(OriginRule("*") { $0.status = 403 })
        #expect(try await originCode(origin) == .forbidden)
        try await origin.stop()
        #expect(try await originCode(origin) == .unreachable)
        await #expect(throws: PlaylistCheckError.self) { try await CheckReport.ofURL("ftp://h/a.m3u8") }
    }
}

/// Checks of playlists on disk.
@Suite("A check of a file")
struct FileCheckTests {
    private let folder: TemporaryFolder
    private static let media = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\n0.ts\n#EXT-X-ENDLIST\n"

    init() throws { folder = try TemporaryFolder() }

    private func check(_ uris: String...) async throws -> CheckReport {
        let lines = uris.map { "#EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS=\"avc1.4d401f\"\n\($0)\n" }.joined()
        let path = try folder.write(Data(("#EXTM3U\n" + lines).utf8), to: "in/master.m3u8")
        return await CheckReport.ofFile(path)
    }

    private func messages(_ report: CheckReport) -> [String] {
        report.playlists.flatMap { playlist in playlist.diagnostics.map { "\($0.severity) \($0.message)" } }
    }

    @Test("reads the playlists beside it and below, percent-encoded names included")
    func beside() async throws {
        for name in ["a.m3u8", "low/media.m3u8", "with blank.m3u8"] {
            try folder.write(Data(Self.media.utf8), to: "in/" + name)
        }
        let report = try await check("a.m3u8?token=x", "./low/../low/media.m3u8", "with%20blank.m3u8", "a.m3u8#b")
        #expect(messages(report) == [])
        let names = ["master.m3u8", "a.m3u8", "low/media.m3u8", "with blank.m3u8"]
        #expect(report.playlists.map(\.name) == names.map { folder.path("in/" + $0) })
    }

    @Test("opens nothing outside of its folder, and says what it leaves out")
    func outside() async throws {
        let secret = try folder.write(Data(Self.media.utf8), to: "secret.m3u8")
        try folder.write(Data(Self.media.utf8), to: "in/a.m3u8")
        try FileManager.default.createSymbolicLink(atPath: folder.path("in/link.m3u8"), withDestinationPath: secret)
        try FileManager.default.createSymbolicLink(atPath: folder.path("in/up"), withDestinationPath: folder.path)
        let report = try await check(
            "../secret.m3u8", "%2e%2e/secret.m3u8", "..%2Fsecret.m3u8", "\(secret)", "http://h/a.m3u8", "//h/a.m3u8",
            "link.m3u8", "up/secret.m3u8", "gone.m3u8")
        let named = { (line: Int) in "; line \(line) of the multivariant playlist names it" }
        #expect(
            messages(report) == [
                "note not read: the URI leads out of the folder", "note not read: the URI leads out of the folder",
                "note not read: the URI names no file", "note not read: the URI leads to the root of an origin",
                "note not read: the URI leads to another origin", "note not read: the URI leads to another origin",
                "warning not read: a symbolic link, which is not followed" + named(15),
                "warning not read: Not a directory" + named(17),
                "warning not read: No such file or directory" + named(19),
            ])
        #expect(report.count(of: .error) == 0)
    }

    @Test("is not stopped by what is no file")
    func pipes() async throws {
        try folder.write(Data(), to: "in/x")
        #expect(mkfifo(folder.path("in/pipe.m3u8"), 0o600) == 0)
        try FileManager.default.createDirectory(atPath: folder.path("in/d.m3u8"), withIntermediateDirectories: true)
        let report = try await check("pipe.m3u8", "d.m3u8")
        #expect(messages(report).allSatisfy { $0.hasPrefix("warning not read: not a file; ") })
        #expect(messages(report).count == 2)
    }

    @Test("that is too large, not there, or a folder says so")
    func unreadable() async throws {
        let large = try folder.write(Data(Self.media.utf8) + Data(repeating: 0x0A, count: 64 << 20), to: "large.m3u8")
        #expect(messages(await CheckReport.ofFile(large)) == ["error the playlist is larger than 67108864 bytes"])
        for path in [folder.path, folder.path("none"), folder.path("no/folder.m3u8")] {
            let report = await CheckReport.ofFile(path)
            #expect(report.failure?.code == .unreadableFile && report.failure?.message.hasPrefix(path + ": ") == true)
        }
    }
}
