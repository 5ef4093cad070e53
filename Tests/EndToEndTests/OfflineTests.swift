import Foundation
import TestSupport
import Testing

@Suite("Without the network")
struct OfflineTests {
    /// How the network is gone.
    enum Absence: CaseIterable {
        /// The origin does not answer.
        case originStopped
        /// `weir serve --offline`, while the origin runs.
        case offlineProcess
        /// `/offline/<name>.m3u8`, while the origin runs.
        case offlineSession
    }

    /// Downloads fixtures, makes the network go, and gives the body the path of an entry playlist's folder.
    private func stored(
        _ fixtures: [String], _ absence: Absence, options: [String] = [], wrapper: [String] = [],
        _ body: (Scene, _ entry: (String) -> String) async throws -> Void
    ) async throws {
        try await Scene.with { scene in
            for fixture in fixtures {
                let result = try await scene.get(fixture, options)
                #expect(result.exit == .code(0), "\(result.errors)")
            }
            if absence == .originStopped { try await scene.origin.stop() }
            try await scene.weir.terminate()
            let isOffline = absence == .offlineProcess
            try await scene.weir.start(wrapper: wrapper, options: isOffline ? ["--offline"] : [])
            if absence != .originStopped { try await scene.origin.clearRequests() }
            try await body(scene) { (absence == .offlineSession ? "/offline/" : "/") + $0 + ".m3u8" }
            if absence != .originStopped { #expect(try await scene.origin.requests().map(\.path) == []) }
        }
    }

    @Test("a stored asset plays in every kind of player", arguments: [Player.ffmpeg, .mpv, .vlc], Absence.allCases)
    func plays(player: Player, absence: Absence) async throws {
        try await stored(["cmaf"], absence) { scene, entry in
            let report = try await player.play(scene.weir.url(entry("cmaf")))
            #expect(PlayerBaseline(player, "cmaf").shortcoming(of: report) == nil)
        }
    }

    @Test("all frames of what is stored are there", arguments: [Absence.offlineProcess, .offlineSession])
    func frames(absence: Absence) async throws {
        try await stored(["aes", "byterange-fmp4"], absence) { scene, entry in
            try await expectFrames(scene.weir.url(entry("aes")), ofBestOf: "aes")
            try await expectFrames(scene.weir.url(entry("byterange-fmp4")), ofBestOf: "byterange-fmp4")
        }
    }

    @Test("the multivariant playlist lists exactly what is stored", arguments: Absence.allCases)
    func listsWhatIsStored(absence: Absence) async throws {
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

    @Test("the playlists in the bundle play by themselves, from any server of files")
    func bundle() async throws {
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

    @Test("what is not stored is a clean 404, and a download says why it waits")
    func notStored() async throws {
        try await stored(["cmaf"], .offlineProcess) { scene, _ in
            let unknown = try await HTTPProbe.fetch(scene.master("ts"))
            #expect(unknown.status == 404 && unknown.text.hasSuffix("offline.\n"))
            #expect(try await HTTPProbe.fetch(scene.master("cmaf")).status == 200)
            let result = try await scene.get("ts")
            #expect(result.exit == .code(75) && result.errors.contains("offline"), "\(result.errors)")
        }
    }

    @Test("with --offline no socket is connected and no name is looked up")
    func noSocket() async throws {
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
            // A look-up would read one of the two files, or ask a server. (Users are looked up through nscd, too.)
            let signs = ["AF_INET", "/etc/hosts", "/etc/resolv.conf"]
            let outward = calls.filter { call in signs.contains { call.contains($0) } }
            #expect(outward == [])
        }
    }

    /// A playlist of Weir's with words in the place of the asset's and the session's ids.
    private static func withoutSession(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let start = line.range(of: "/a/") else { return String(line) }
            let parts = line[start.upperBound...].split(separator: "/")
            return line[..<start.lowerBound] + "/a/ASSET/SESSION/" + parts.dropFirst(2).joined(separator: "/")
        }.joined(separator: "\n")
    }
}
