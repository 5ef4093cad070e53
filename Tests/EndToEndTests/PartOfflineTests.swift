import Foundation
import TestSupport
import Testing

/// A partial asset plays without network, with the missing segments cut out.
@Suite("A partial asset without network")
struct PartOfflineTests {
    /// The stored part of a fixture's best variant: its folders, and the numbers of the stored segments.
    struct Part: CustomTestStringConvertible, Sendable {
        let fixture: String
        let folders: [String: ClosedRange<Int>]
        var testDescription: String { fixture }
    }

    /// Seconds 4 to 8 of each kind: clear, encrypted, demuxed audio.
    static let middles = [
        Part(fixture: "ts", folders: ["270p": 2...3]),
        Part(fixture: "aes-noiv", folders: ["180p": 2...3]),
        Part(fixture: "cmaf", folders: ["video-270p": 4...7, "audio-en": 2...3]),
    ]

    /// The frames of these segments from the origin, with everything else unchanged.
    private func frames(
        _ scene: Scene, _ fixture: String, stays: (_ folder: String, _ number: Int) -> Bool
    ) async throws -> FrameHashes {
        let text = String(decoding: try Repository.fixture("/\(fixture)/master.m3u8"), as: UTF8.self)
        let lines = text.split(separator: "\n")
        let sound = lines.filter { $0.hasPrefix("#EXT-X-MEDIA:TYPE=AUDIO") && $0.contains("DEFAULT=YES") }
        let variant = (lines.lastIndex { $0.hasPrefix("#EXT-X-STREAM-INF") } ?? 0)...
        let master = (["#EXTM3U"] + sound + lines[variant].prefix(2)).map { $0 + "\n" }.joined()
        let part = master.replacingOccurrences(of: "/media.m3u8", with: "/part.m3u8")
        try await scene.origin.add(OriginRule("/\(fixture)/part.m3u8") { ($0.status, $0.body) = (200, part) })
        for folder in Set(master.matches(of: /([a-z0-9-]+)\/media\.m3u8/).map { String($0.1) }) {
            let media = String(decoding: try Repository.fixture("/\(fixture)/\(folder)/media.m3u8"), as: UTF8.self)
            let body = Self.without(media) { stays(folder, $0) }
            try await scene.origin.add(
                OriginRule("/\(fixture)/\(folder)/part.m3u8") { ($0.status, $0.body) = (200, body) })
        }
        let frames = try await FrameHashes.of(scene.origin.url("/\(fixture)/part.m3u8"))
        try await scene.origin.clearRules()
        return frames
    }

    /// A media playlist without some of its segments. Encryption by sequence number gets explicit vectors.
    private static func without(_ media: String, stays: (Int) -> Bool) -> String {
        var number = 0
        var key = ""
        var result = [String]()
        var pending: [String] = []
        for line in media.split(separator: "\n").map(String.init) {
            if line.hasPrefix("#EXT-X-KEY") {
                key = line
            }
            if line.hasPrefix("#EXTINF") || line.hasPrefix("#EXT-X-BYTERANGE") {
                pending.append(line)
            } else if line.hasPrefix("#") {
                result.append(line)
            } else {
                if stays(number) {
                    if !key.isEmpty, !key.contains("IV=") {
                        result.append(key + ",IV=0x" + String(number, radix: 16))
                    }
                    result += pending + [line]
                }
                number = number + 1
                pending = []
            }
        }
        return result.map { $0 + "\n" }.joined()
    }

    @Test("plays a downloaded range in every player, with every frame", arguments: middles)
    func playsDownloadedRange(part: Part) async throws {
        try await Scene.with { scene in
            let expected = try await frames(scene, part.fixture) { part.folders[$0]?.contains($1) ?? false }
            #expect(expected.streams.map(\.frames.count).contains(40))
            let result = try await scene.get(part.fixture, ["--range", "4-8"])
            #expect(result.exit == .code(0), "\(result.errors)")
            try await scene.origin.clearRequests()
            try await expect(scene, part.fixture, expected, lasting: 4)
            #expect(try await scene.origin.requests().map(\.path) == [])
            try await scene.origin.stop()
            try await scene.weir.restart()
            let named = try await FrameHashes.of(scene.weir.url("/\(part.fixture).m3u8"))
            #expect(named.firstDifference(from: expected) == nil)
        }
    }

    @Test(
        "plays at once when the origin has gone right after the download",
        arguments: [Player.ffmpeg, .mpv, .vlc], ["", "local/", "auto/"])
    func playsPartRightAfterItsDownload(player: Player, view: String) async throws {
        try await Scene.with { scene in
            _ = try await scene.get("ts", ["--range", "0-6"])
            try await scene.origin.stop()
            // A wait for the origin's segments would take a minute.
            let report = try await player.play(scene.weir.url("/\(view)ts.m3u8"), within: .seconds(40))
            #expect(report.ended && report.position ?? 0 >= 2.5, "\(report)")
        }
    }

    @Test("plays a killed download with a hole in the middle", arguments: ["ts", "cmaf"])
    func playsKilledDownload(fixture: String) async throws {
        try await Scene.with { scene in
            // Seconds 0 to 4 and 6 to 8; the rest is cut out.
            let stays = { (folder: String, number: Int) in
                folder.hasPrefix("video") ? [0, 1, 2, 3, 6, 7].contains(number) : [0, 1, 3].contains(number)
            }
            let expected = try await frames(scene, fixture, stays: stays)
            // The last third is never fetched.
            let ends = fixture == "ts" ? ["/270p/[45].ts"] : ["/video-270p/[89].m4s", "/video-270p/1?.m4s"]
            for end in ends {
                try await scene.origin.add(OriginRule("/\(fixture)" + end) { $0.pauseAfter = 0 })
            }
            let first = fixture == "ts" ? 4 : 8 + 7 + 2
            let get = try scene.weir.begin(["get", scene.origin.master(fixture)])
            try await waitUntil("all that the origin gives") { scene.pieces().count >= first }
            try await scene.weir.kill()
            _ = try await get.end()
            let hole = fixture == "ts" ? ["/2.ts"] : ["/audio-en/2.m4s"]
            for piece in scene.pieces() where hole.contains(where: piece.hasSuffix) {
                try FileManager.default.removeItem(atPath: piece)
            }
            try await scene.origin.stop()
            try await scene.weir.start()
            try await expect(scene, fixture, expected, lasting: 6)
        }
    }

    /// Expects the frames of an offline session, and that players reach its end.
    private func expect(
        _ scene: Scene, _ fixture: String, _ expected: FrameHashes, lasting seconds: Double
    ) async throws {
        let entry = await scene.weir.url("/offline/\(fixture).m3u8")
        let frames = try await FrameHashes.of(entry)
        #expect(frames.firstDifference(from: expected) == nil)
        for player in [Player.mpv, .vlc] {
            let report = try await player.play(entry)
            // VLC's position may be seconds before the end: see Player.Report.position.
            #expect(report.ended && report.position ?? 0 >= seconds - 3.5, "\(player): \(report)")
        }
    }
}
