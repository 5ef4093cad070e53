import Assets
import EventLoop
import Foundation
import Orders
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Downloads of which the origin lacks a segment of subtitles in fragmented MP4: as `LostSubtitleTests`.
@Suite @LoopActor struct LostCueFragmentTests {
    private static let folder = "/cmaf/subtitles-en"
    private static let key = [UInt8](0..<16)
    private static let vector = [UInt8](repeating: 0, count: 15) + [9]
    /// The decode time of the first segment, in milliseconds.
    private static let start: UInt64 = 10_000

    /// The formats of cues, and the sample without a cue.
    private nonisolated static let formats: [(String, [UInt8])] = [
        ("wvtt", CueFragments.box("vtte")),
        ("stpp", Array(#"<tt xmlns="http://www.w3.org/ns/ttml" xml:lang=""></tt>"#.utf8)),
    ]

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    }

    /// A house whose origin has such subtitles, with a rule for the third of six segments.
    private func house(
        section: [UInt8], isEncrypted: Bool = false, lost rule: (inout OriginRule) -> Void
    ) async throws -> TestHouse {
        let house = try await TestHouse(.downloader { $0.pauses = .milliseconds(5)...(.milliseconds(10)) }, .playback())
        func body(_ bytes: [UInt8]) throws -> String {
            guard isEncrypted else { return hex(bytes) }
            return hex(try #require(SegmentCipher.encrypted(bytes, key: Self.key, vector: Self.vector)))
        }

        var lines = ["#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-TARGETDURATION:2"]
        if isEncrypted {
            lines.append("#EXT-X-KEY:METHOD=AES-128,URI=\"s.key\",IV=0x09")
        }
        lines.append("#EXT-X-MAP:URI=\"init.mp4\"")
        for number in 0..<6 {
            lines += ["#EXTINF:2,", "\(number).m4s"]
            guard number != 2 else { continue }
            let cue = CueFragments.cue("Second \(2 * number)")
            let time = Self.start + 2000 * UInt64(number)
            let bytes = try body(CueFragments.segment(at: time, duration: 2000, cue))
            try await house.origin.add(
                OriginRule("\(Self.folder)/\(number).m4s") { ($0.status, $0.bodyHex) = (200, bytes) })
        }
        let text = (lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
        let head = try body(section)
        let secret = hex(Self.key)
        try await house.origin.add(
            OriginRule("\(Self.folder)/media.m3u8") { ($0.status, $0.body) = (200, text) },
            OriginRule("\(Self.folder)/init.mp4") { ($0.status, $0.bodyHex) = (200, head) },
            OriginRule("\(Self.folder)/s.key") { ($0.status, $0.bodyHex) = (200, secret) },
            OriginRule("\(Self.folder)/2.m4s", rule))
        return house
    }

    private func saved(in house: TestHouse) async throws -> Download {
        let download = try await house.start("/cmaf/master.m3u8", Selection(quality: .worst, subtitles: .all))
        try await waitUntil("the end", within: .seconds(30)) { download.state.isFinal }
        return download
    }

    /// A file of the subtitles, as a player gets it without the origin.
    private func file(_ file: String, of house: TestHouse) async throws -> HTTPAnswer {
        let entry = try await HTTPProbe.fetch(house.players.url("/offline/cmaf.m3u8")).text
        let uri = try #require(
            entry.split(separator: "\"").map(String.init).first { $0.hasSuffix("/subtitles-en/media.m3u8") })
        return try await HTTPProbe.fetch(house.players.url(uri.replacing("media.m3u8", with: file)))
    }

    private func clear(_ answer: HTTPAnswer, isEncrypted: Bool) -> [UInt8] {
        guard isEncrypted else { return [UInt8](answer.body) }
        let bytes = SegmentCipher.decrypted([UInt8](answer.body), key: Self.key, vector: Self.vector) ?? []
        return bytes.dropLast(Int(bytes.last ?? 0))
    }

    @Test(arguments: formats, [false, true])
    func isCompleteAndPlaysWithASegmentWithoutCues(_ format: (String, [UInt8]), _ isEncrypted: Bool) async throws {
        let house = try await house(
            section: CueFragments.section(format.0), isEncrypted: isEncrypted
        ) { $0.status = 404 }
        let download = try await saved(in: house)
        #expect(download.state == .complete, "\(String(describing: download.failure))")
        #expect(download.shortfall?.reason == .holes && download.shortfall?.message.contains("2.m4s") ?? false)
        try await house.origin.stop()

        let expected = CueFragments.segment(at: Self.start + 4000, duration: 2000, format.1)
        for _ in 0..<2 {
            let list = try await file("media.m3u8", of: house).text
            #expect(list.contains("\n2.m4s\n") && !list.contains("GAP"), "\(list)")
            let hole = try await file("2.m4s", of: house)
            #expect(hole.status == 200 && hole["cache-control"] == "no-store")
            // Behind the count of fragments.
            #expect(clear(hole, isEncrypted: isEncrypted).dropFirst(24) == expected.dropFirst(24))
            #expect(!house.folder.files().contains { $0.hasSuffix("subtitles-en/2.m4s") })
            await house.flush()
            try await house.notes(.complete)
            try await house.restart()
        }
    }

    @Test func anEmptySegmentIsOneWithoutCues() async throws {
        let house = try await house(section: CueFragments.section("wvtt")) { ($0.status, $0.body) = (200, "") }
        let download = try await saved(in: house)
        #expect(download.state == .complete && download.shortfall == nil, "\(String(describing: download.failure))")
        try await house.origin.stop()
        let answer = try await file("2.m4s", of: house)
        #expect(answer.status == 200 && answer.body.isEmpty)
    }

    /// Some packagers put the head of the text into the section.
    @Test func behindAHeadOfTextIsAnEmptyLine() async throws {
        let house = try await house(section: Array("WEBVTT\n\n".utf8)) { $0.status = 404 }
        _ = try await saved(in: house)
        let answer = try await file("2.m4s", of: house)
        #expect(answer.status == 200 && answer.text == "\n")
    }

    /// Nobody knows what a player expects there: it gets what an origin sends of a segment in which nobody speaks.
    @Test func ofAnUnknownFormatNothingIsSent() async throws {
        let house = try await house(section: CueFragments.section("c608")) { $0.status = 404 }
        let download = try await saved(in: house)
        #expect(download.state == .complete)
        let answer = try await file("2.m4s", of: house)
        #expect(answer.status == 200 && answer.body.isEmpty)
    }
}
