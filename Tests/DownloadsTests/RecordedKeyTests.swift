import Assets
import EventLoop
import Foundation
import HLS
import Orders
import TestRooms
import TestSupport
import Testing

@testable import Downloads

@Suite("Keys that do not fit a live stream") @LoopActor struct RecordedKeyTests {
    private static let path = "/aes/90p/media.m3u8"
    private static let key = "/aes/keys/0.key"
    private static let wrong = String(repeating: "5a", count: 16)

    /// A live playlist of the first segments of an encrypted film.
    private static func text(_ count: Int, isEnded: Bool = false) throws -> String {
        let film = String(decoding: try Repository.fixture(path), as: UTF8.self)
        var lines: [Substring] = []
        var segments = 0
        for line in film.split(separator: "\n") where segments < count {
            guard !line.hasPrefix("#EXT-X-PLAYLIST-TYPE") else { continue }
            lines.append(line)
            if !line.hasPrefix("#") {
                segments += 1
            }
        }
        let end = isEnded ? "#EXT-X-ENDLIST\n" : ""
        return lines.joined(separator: "\n") + "\n" + end
    }

    private static func isOneKey(_ text: String) -> String {
        text.replacing("1.key", with: "0.key").replacing("2.key", with: "0.key")
    }

    private static func playlist(_ text: String) -> OriginRule {
        OriginRule(path) { ($0.status, $0.body) = (200, text) }
    }

    private static var wrongKey: OriginRule {
        OriginRule(key) { ($0.status, $0.bodyHex) = (200, wrong) }
    }

    @Test("are fetched once more, and told while it records and at its end; what was recorded is kept")
    func wrong() async throws {
        let house = try await TestHouse(.downloader())
        try await house.origin.add(Self.wrongKey, Self.playlist(Self.isOneKey(Self.text(5))))
        let scene = try await RecordingScene(house, Self.path)
        try await waitUntil("the words about the key", within: .seconds(30)) {
            scene.lacks?.contains("sent as key 0 does not decrypt its segments") ?? false
        }
        let fetches = try await house.origin.requests(for: Self.key)
        #expect(fetches.count == 2, "\(fetches)")

        let ended = try Self.playlist(Self.isOneKey(Self.text(6, isEnded: true)))
        try await house.origin.replaceRules(with: Self.wrongKey, ended)
        try await waitUntil("the end", within: .seconds(40)) { scene.outcome != nil }
        guard case .failed(let error, true, _) = scene.outcome else {
            Issue.record("\(String(describing: scene.outcome))")
            return
        }
        #expect(error.code == .keyUnfit && error.message.contains("cannot be played"))
        // What a later attempt may mend is no lack of the recording.
        #expect(scene.lacks == nil)
        #expect(scene.names.count == 6 && !scene.asset.isRecording)
        #expect(try scene.piece("5.ts") == Repository.fixture("/aes/90p/5.ts"))
        #expect(try await house.origin.requests(for: Self.key).count == 2)
    }

    @Test("fit if the origin sends other bytes when it is asked once more")
    func mended() async throws {
        let house = try await TestHouse(.downloader())
        try await house.origin.add(
            OriginRule(Self.key) { ($0.status, $0.bodyHex, $0.times) = (200, Self.wrong, 1) },
            Self.playlist(Self.text(4)))
        let scene = try await RecordingScene(house, Self.path)
        try await waitUntil("the right key", within: .seconds(30)) {
            let file = try? house.folder.find("keys/0.key")
            let bytes = file.flatMap { try? Data(contentsOf: URL(filePath: $0)) }
            return try bytes == Repository.fixture(Self.key)
        }
        try await house.origin.replaceRules(with: Self.playlist(Self.text(6, isEnded: true)))
        #expect(try await scene.reason().hasSuffix("the origin ended it"))
        #expect(scene.lacks == nil && scene.asset.isPlayableOffline)
        #expect(try await house.origin.requests(for: Self.key).count == 2)
    }

    @Test("end the job of a recording as failed, and not as complete")
    func job() async throws {
        let house = try await TestHouse(.downloader())
        try await house.origin.add(
            OriginRule("/aes/keys/*") { ($0.status, $0.bodyHex) = (200, Self.wrong) }, Self.playlist(Self.text(4)))
        let channel = try await house.open(Self.path)
        let recording = try await house.library.makeRecording(of: channel, name: "recording", title: nil)
        var order = DownloadOrder(Selection())
        order.record = true
        let download = try await house.downloader.start(recording, order)
        try await waitUntil("four segments", within: .seconds(30)) {
            (recording.renditions[0].recording?.count ?? 0) >= 4
        }
        // The user ends it.
        await house.downloader.cancel(download)
        #expect(download.state == .failed && download.failure?.code == .library(.keyUnfit))
        #expect(!recording.isRecording && recording.renditions[0].source?.playlist.segments.count == 4)
    }
}
