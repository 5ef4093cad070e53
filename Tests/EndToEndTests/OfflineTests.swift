import Foundation
import TestSupport
import Testing

@Suite("Without network")
struct OfflineTests {
    /// The kind of network absence.
    enum Absence: CaseIterable {
        /// The origin does not answer.
        case originStopped
        /// `weir serve --offline`, while the origin runs.
        case offlineProcess
        /// `/offline/<name>.m3u8`, while the origin runs.
        case offlineSession
    }

    /// Downloads fixtures, removes the network, and passes the path of an entry playlist's folder to the body.
    private func stored(
        _ fixtures: [String], _ absence: Absence, options: [String] = [], wrapper: [String] = [],
        _ body: (Scene, _ entry: (String) -> String) async throws -> Void
    ) async throws {
        try await Scene.with { scene in
            for fixture in fixtures {
                let result = try await scene.get(fixture, options)
                #expect(result.exit == .code(0), "\(result.errors)")
            }
            if absence == .originStopped {
                try await scene.origin.stop()
            }
            try await scene.weir.terminate()
            let isOffline = absence == .offlineProcess
            try await scene.weir.start(wrapper: wrapper, options: isOffline ? ["--offline"] : [])
            if absence != .originStopped {
                try await scene.origin.clearRequests()
            }
            try await body(scene) { (absence == .offlineSession ? "/offline/" : "/") + $0 + ".m3u8" }
            if absence != .originStopped {
                #expect(try await scene.origin.requests().map(\.path) == [])
            }
        }
    }

    @Test("a stored asset plays in every player", arguments: [Player.ffmpeg, .mpv, .vlc], Absence.allCases)
    func playsStoredAsset(player: Player, absence: Absence) async throws {
        try await stored(["cmaf"], absence) { scene, entry in
            let report = try await player.play(scene.weir.url(entry("cmaf")))
            #expect(PlayerBaseline(player, "cmaf").shortcoming(of: report) == nil)
        }
    }

    @Test("the multivariant playlist lists each language of the sound that is stored", arguments: Absence.allCases)
    func listsEachStoredLanguage(absence: Absence) async throws {
        try await stored(["cmaf"], absence, options: ["-q", "180p", "--audio", "all"]) { scene, entry in
            let text = try await HTTPProbe.fetch(scene.weir.url(entry("cmaf"))).text
            let sounds = text.split(separator: "\n").filter { $0.hasPrefix("#EXT-X-MEDIA:TYPE=AUDIO") }
            #expect(sounds.count == 2 && sounds[0].contains("LANGUAGE=\"en\"") && sounds[1].contains("LANGUAGE=\"fr\""))
        }
    }

    @Test("every stored frame is decoded", arguments: [Absence.offlineProcess, .offlineSession])
    func decodesEveryStoredFrame(absence: Absence) async throws {
        try await stored(["aes", "byterange-fmp4"], absence) { scene, entry in
            try await expectFrames(scene.weir.url(entry("aes")), ofBestOf: "aes")
            try await expectFrames(scene.weir.url(entry("byterange-fmp4")), ofBestOf: "byterange-fmp4")
        }
    }

    @Test("the multivariant playlist lists exactly the stored renditions", arguments: Absence.allCases)
    func listsStoredRenditions(absence: Absence) async throws {
        try await stored(["cmaf"], absence, options: ["-q", "180p", "--audio", "fr"]) { scene, entry in
            let text = try await HTTPProbe.fetch(scene.weir.url(entry("cmaf"))).text
            #expect(
                Self.withoutSession(text) == """
                    #EXTM3U
                    #EXT-X-VERSION:7
                    #EXT-X-INDEPENDENT-SEGMENTS
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aac",NAME="Français",LANGUAGE="fr",DEFAULT=YES,AUTOSELECT=YES,\
                    CHANNELS="1",URI="/a/ASSET/SESSION/audio-fr/media.m3u8"
                    #EXT-X-STREAM-INF:BANDWIDTH=116384,AVERAGE-BANDWIDTH=111467,CODECS="avc1.4d400c,mp4a.40.2",\
                    RESOLUTION=320x180,FRAME-RATE=10.000,AUDIO="aac"
                    /a/ASSET/SESSION/video-180p/media.m3u8

                    """)
        }
    }

    @Test("the bundle's own playlists play from any file server")
    func playsBundleFromFileServer() async throws {
        try await stored(["cmaf", "aes"], .originStopped) { scene, _ in
            let bundles = try FileManager.default.contentsOfDirectory(atPath: scene.weir.store + "/assets")
            #expect(bundles.count == 2)
            let server = try await TestOrigin(root: scene.weir.store + "/assets")
            for fixture in ["cmaf", "aes"] {
                let bundle = try #require(bundles.first { $0.hasPrefix(fixture) })
                try await expectFrames(server.url("/\(bundle)/master.m3u8"), ofBestOf: fixture)
            }
        }
    }

    @Test("other resources give a clean 404, and a download reports why it waits")
    func answers404() async throws {
        try await stored(["cmaf"], .offlineProcess) { scene, _ in
            let unknown = try await HTTPProbe.fetch(scene.master("ts"))
            #expect(unknown.status == 404 && unknown.text.hasSuffix("offline.\n"))
            #expect(try await HTTPProbe.fetch(scene.master("cmaf")).status == 200)
            let result = try await scene.get("ts")
            #expect(result.exit == .code(75) && result.errors.contains("offline"), "\(result.errors)")
        }
    }

    @Test("with --offline no socket is connected and no name is resolved")
    func connectsNoSocket() async throws {
        let trace = try TemporaryFolder()
        let file = trace.path("calls")
        let wrapper = ["strace", "-f", "-qq", "-o", file, "-e", "trace=connect,sendto,sendmmsg,openat,execve"]
        try await stored(["ts"], .offlineProcess, wrapper: wrapper) { scene, entry in
            #expect(try await PlaylistWalk.load(scene.weir.url(entry("ts"))).count == 6)
            _ = try await HTTPProbe.fetch(scene.master("ts"))
            for unknown in [
                "http://nowhere.invalid/master.m3u8", "https://localhost:1/a.m3u8", scene.origin.master("aes"),
            ] {
                #expect(try await HTTPProbe.fetch(scene.weir.url("/" + unknown)).status == 404)
            }
            try await scene.weir.kill()
            let calls = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            #expect(calls.contains { $0.contains("execve(") })
            // Name resolution would read one of the two files, or contact a server. (User lookups use nscd, too.)
            let signs = ["AF_INET", "/etc/hosts", "/etc/resolv.conf"]
            let outward = calls.filter { call in signs.contains { call.contains($0) } }
            #expect(outward == [])
        }
    }

    /// A playlist of Weir with placeholders for the asset and session ids.
    private static func withoutSession(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let start = line.range(of: "/a/") else { return String(line) }
            let parts = line[start.upperBound...].split(separator: "/")
            return line[..<start.lowerBound] + "/a/ASSET/SESSION/" + parts.dropFirst(2).joined(separator: "/")
        }.joined(separator: "\n")
    }
}
