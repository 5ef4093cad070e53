import Assets
import EventLoop
import Fetching
import Foundation
import HLS
import Orders
import SegmentFormat
import TestRooms
import TestSupport
import Testing

@testable import Downloads

@Suite("Keys that do not fit") struct KeyTrialTests {
    @Test("are looked for among the first eight, and each sixteenth after that")
    func samples() {
        var samples = KeySamples()
        let tried = (100..<150).filter { samples.includes($0) }
        #expect(tried == Array(100..<108) + [116, 132, 148])
        let again = [107, 108, 116].filter { samples.includes($0) }
        #expect(again == [107, 116])
    }

    private static func media(_ path: String) throws -> [UInt8] { [UInt8](try Repository.fixture(path)) }

    @Test("yield neither sync bytes nor boxes nor text")
    func content() throws {
        let fitting: [(String, [UInt8])] = [
            ("a transport stream", try Self.media("/ts/90p/0.ts")),
            ("a fragment", try Self.media("/cmaf/video-90p/0.m4s")),
            ("an initialization section", try Self.media("/cmaf/video-90p/init.mp4")),
            ("cues", Array("WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n".utf8)),
            ("other text", Array("<?xml version=\"1.0\"?><tt xmlns=\"http://www.w3.org/ns/ttml\"/>".utf8)),
            ("a picture", [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 3, count: 60)),
            ("a packet and its padding", Array(try Self.media("/ts/90p/0.ts").prefix(188)) + [4, 4, 4, 4]),
        ]
        for (name, bytes) in fitting {
            #expect(KeyTrial.Sample.isClear(bytes, isWhole: bytes.count < MediaRecognition.length), "\(name)")
        }
        var dice = SeededDice(state: 42)
        for _ in 0..<20 {
            let noise = (0..<4096).map { _ in UInt8.random(in: 0...255, using: &dice) }
            // Padding that is right says nothing: one in 256 wrong keys yields it.
            #expect(!KeyTrial.Sample.isClear([0x5A] + noise + [1], isWhole: true))
        }
    }

    private static let wrong = String(repeating: "5a", count: 16)

    @Test("fail the download, keep its pieces, and are fetched again when it is resumed") @LoopActor
    func wrongKeys() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/aes/keys/*.key") { ($0.status, $0.bodyHex) = (200, Self.wrong) })
        let download = try await fixture.start("/aes/master.m3u8")
        try await fixture.reaches(.failed, "aes")
        let failure = try #require(download.failure)
        #expect(failure.code == .library(.keyUnfit))
        #expect(failure.message.contains("aes cannot be played") && failure.message.contains("does not decrypt"))
        let stored = download.progress.bytes
        #expect(stored > 0)

        // As long as the origin sends them, it fails again.
        await fixture.downloader.resume(download)
        try await fixture.reaches(.failed, "aes")
        #expect(download.failure?.code == .library(.keyUnfit) && download.progress.bytes >= stored)

        try await fixture.origin.clearRules()
        try await fixture.origin.clearRequests()
        await fixture.downloader.resume(download)
        try await fixture.reaches(.complete, "aes")
        #expect(try await fixture.mediaPaths().filter { $0.hasSuffix(".ts") } == [])
        #expect(try await fixture.mediaPaths().contains("/aes/keys/0.key"))
    }

    @Test("are found if only one of several does not fit") @LoopActor
    func oneWrongKey() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/aes/keys/2.key") { ($0.status, $0.bodyHex) = (200, Self.wrong) })
        let download = try await fixture.start("/aes/master.m3u8")
        try await fixture.reaches(.failed, "aes")
        #expect(download.failure?.message.contains("as key 2 ") ?? false, "\(download.failure?.message ?? "")")
    }

    @Test("are found among what was stored before", arguments: ["aes", "aes-noiv", "ts", "cmaf"]) @LoopActor
    func stored(fixture name: String) async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await fixture.start("/\(name)/master.m3u8")
        try await fixture.reaches(.complete, name)
        #expect(await KeyTrial(download.asset).run(on: download.renditions) == [])
        guard name.hasPrefix("aes") else { return }
        let key = try fixture.folder.find("keys/0.key")
        try Data(repeating: 0x5A, count: 16).write(to: URL(filePath: key))
        #expect(await KeyTrial(download.asset).run(on: download.renditions) == [0])
    }

    /// The bytes of a segment look the same with any key.
    @Test("are not looked for in SAMPLE-AES") @LoopActor
    func samplesOnly() async throws {
        let fixture = try await TestHouse(.downloader())
        let text = String(decoding: try Repository.fixture("/ts/90p/media.m3u8"), as: UTF8.self)
        let keyed = text.replacing(
            "#EXTINF", with: "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"/aes/keys/0.key\"\n#EXTINF", maxReplacements: 1)
        try await fixture.origin.add(OriginRule("/ts/90p/media.m3u8") { ($0.status, $0.body) = (200, keyed) })
        try await fixture.start("/ts/90p/media.m3u8")
        let asset = try #require(fixture.library.assets.first)
        try await fixture.reaches(.complete, asset.name)
    }
}
