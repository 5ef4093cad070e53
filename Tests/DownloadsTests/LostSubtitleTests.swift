import Assets
import EventLoop
import Foundation
import Orders
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Downloads of which the origin lacks a segment of subtitles: they are complete without it, and say so.
@Suite @LoopActor struct LostSubtitleTests {
    private static let lost = "/cmaf/subtitles-en/2.vtt"
    private static let selection = Selection(quality: .worst, subtitles: .all)

    private func house() async throws -> TestHouse {
        try await TestHouse(
            .downloader { $0.pauses = .milliseconds(5)...(.milliseconds(10)) }, .playback())
    }

    private func text(_ path: String, of house: TestHouse) async throws -> HTTPAnswer {
        try await HTTPProbe.fetch(house.players.url(path), fields: ["Range": "bytes=0-"])
    }

    /// The path of a file beside the subtitles' playlist of an entry.
    private func subtitle(_ file: String, _ entry: String, of house: TestHouse) async throws -> String {
        let text = try await text(entry, of: house).text
        let uri = try #require(
            text.split(separator: "\"").map(String.init).first { $0.hasSuffix("/subtitles-en/media.m3u8") })
        return uri.replacing("media.m3u8", with: file)
    }

    /// A download that lacks the segment, and every other piece stored.
    private func lacking(_ status: Int, in house: TestHouse) async throws -> Download {
        try await house.origin.add(OriginRule(Self.lost) { $0.status = status })
        let download = try await house.start("/cmaf/master.m3u8", Self.selection)
        try await waitUntil("the end", within: .seconds(30)) { download.state.isFinal }
        return download
    }

    @Test(arguments: [404, 410, 500])
    func isCompleteAndSaysWhatTheOriginDoesNotHave(_ status: Int) async throws {
        let house = try await house()
        let download = try await lacking(status, in: house)
        #expect(download.state == .complete && download.isComplete && download.progress.fraction == 1)
        let shortfall = try #require(download.shortfall)
        #expect(shortfall.reason == .holes && shortfall.message.contains(Self.lost), "\(shortfall)")
        let part = try #require(download.progress.parts.first { $0.kind == .subtitles })
        #expect(part.isComplete && part.expected.subtracting(part.loaded).duration == 2)
    }

    @Test func playsOfflineWithAnEmptyFileInTheHoleAlsoAfterARestart() async throws {
        let house = try await house()
        _ = try await lacking(404, in: house)
        for _ in 0..<2 {
            try await house.origin.clearRequests()
            let list = try await text(subtitle("media.m3u8", "/offline/cmaf.m3u8", of: house), of: house).text
            #expect(list.contains("\n2.vtt\n") && !list.contains("GAP"))
            let hole = try await text(subtitle("2.vtt", "/cmaf.m3u8", of: house), of: house)
            #expect(hole.status == 200 && hole.text == "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n\n")
            #expect(hole["content-type"] == "text/vtt" && hole["cache-control"] == "no-store")
            #expect(try await text(subtitle("3.vtt", "/cmaf.m3u8", of: house), of: house).text.contains("Second 6"))
            #expect(!house.folder.files().contains { $0.hasSuffix("subtitles-en/2.vtt") })
            #expect(try await house.origin.requests().isEmpty)
            await house.flush()
            try await house.notes(.complete)
            try await house.restart()
        }
    }

    @Test func theBundleMarksTheHoleAsAGap() async throws {
        let house = try await house()
        let download = try await lacking(404, in: house)
        let path = "assets/\(download.asset.id)/subtitles-en/media.m3u8"
        let text = try String(contentsOfFile: house.folder.path(path), encoding: .utf8)
        #expect(text.contains("#EXT-X-GAP\n2.vtt\n") && text.components(separatedBy: "#EXT-X-GAP").count == 2)
    }

    @Test func theNextOrderAsksForItAgain() async throws {
        let house = try await house()
        let download = try await lacking(404, in: house)
        #expect(try await house.origin.requests(for: Self.lost).count == 2)
        _ = try await house.start("/cmaf/master.m3u8", Self.selection)
        try await waitUntil("the end of the next attempt") {
            let count = try await house.origin.requests(for: Self.lost).count
            return count == 4 && download.state == .complete
        }
        #expect(download.shortfall?.reason == .holes)
        try await house.origin.clearRules()
        _ = try await house.start("/cmaf/master.m3u8", Self.selection)
        try await waitUntil("all of it") { download.state == .complete && download.shortfall == nil }
        #expect(house.folder.files().contains { $0.hasSuffix("subtitles-en/2.vtt") })
    }

    /// More in a row than other pieces may be missing.
    @Test func manyAreNoReasonToGiveUpTheRest() async throws {
        let house = try await house()
        try await house.origin.add(OriginRule("/cmaf/subtitles-en/[1-9]*.vtt") { $0.status = 404 })
        let download = try await house.start("/cmaf/master.m3u8", Self.selection)
        try await waitUntil("the end", within: .seconds(30)) { download.state.isFinal }
        #expect(download.state == .complete)
        #expect(
            download.shortfall?.message.contains("so are 4 more") ?? false, "\(String(describing: download.shortfall))")
    }

    // MARK: Under AES-128

    private static let key = [UInt8](0..<16)
    private static let vector = [UInt8](repeating: 0, count: 15) + [9]

    /// Encrypts the English subtitles of the origin, all with one vector.
    private func encryptSubtitles(in house: TestHouse) async throws {
        let playlist = String(decoding: try Repository.fixture("/cmaf/subtitles-en/media.m3u8"), as: UTF8.self)
        let line = "#EXT-X-KEY:METHOD=AES-128,URI=\"s.key\",IV=0x09\n#EXTINF"
        let text = playlist.replacing("#EXTINF", with: line, maxReplacements: 1)
        func hex(_ bytes: [UInt8]) -> String {
            let digits = bytes.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }
            return digits.joined()
        }
        let folder = "/cmaf/subtitles-en"
        try await house.origin.add(
            OriginRule("\(folder)/media.m3u8") { ($0.status, $0.body) = (200, text) },
            OriginRule("\(folder)/s.key") { ($0.status, $0.bodyHex) = (200, hex(Self.key)) })
        for number in 0..<6 where number != 2 {
            let clear = [UInt8](try Repository.fixture("\(folder)/\(number).vtt"))
            let bytes = try #require(SegmentCipher.encrypted(clear, key: Self.key, vector: Self.vector))
            try await house.origin.add(
                OriginRule("\(folder)/\(number).vtt") { ($0.status, $0.bodyHex) = (200, hex(bytes)) })
        }
    }

    private func clear(_ answer: HTTPAnswer) -> String {
        let bytes = SegmentCipher.decrypted([UInt8](answer.body), key: Self.key, vector: Self.vector) ?? []
        return String(decoding: bytes.dropLast(Int(bytes.last ?? 0)), as: UTF8.self)
    }

    @Test func anEncryptedHoleIsAnEncryptedFileWithoutCues() async throws {
        let house = try await house()
        try await encryptSubtitles(in: house)
        let download = try await lacking(404, in: house)
        #expect(download.state == .complete, "\(String(describing: download.failure))")
        #expect(download.shortfall?.reason == .holes && download.shortfall?.message.contains(Self.lost) ?? false)
        try await house.origin.stop()
        for _ in 0..<2 {
            let list = try await text(subtitle("media.m3u8", "/offline/cmaf.m3u8", of: house), of: house).text
            #expect(list.contains("\n2.vtt\n") && !list.contains("GAP") && list.contains("METHOD=AES-128"))
            let hole = try await text(subtitle("2.vtt", "/offline/cmaf.m3u8", of: house), of: house)
            #expect(hole.status == 200 && hole["cache-control"] == "no-store")
            #expect(clear(hole) == "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n\n")
            #expect(
                clear(try await text(subtitle("3.vtt", "/offline/cmaf.m3u8", of: house), of: house)).contains(
                    "Second 6"))
            #expect(!house.folder.files().contains { $0.hasSuffix("subtitles-en/2.vtt") })
            await house.flush()
            try await house.notes(.complete)
            try await house.restart()
        }
    }

    @Test func aHoleInThePictureStillFailsTheDownload() async throws {
        let house = try await house()
        try await house.origin.add(OriginRule("/cmaf/video-90p/3.m4s") { $0.status = 404 })
        let download = try await lacking(404, in: house)
        #expect(download.state == .failed)
        #expect(download.failure?.message.contains("video-90p/3.m4s") ?? false)
    }
}
