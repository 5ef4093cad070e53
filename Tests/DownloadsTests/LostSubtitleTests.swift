import Assets
import EventLoop
import Foundation
import Orders
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

    @Test func aHoleInThePictureStillFailsTheDownload() async throws {
        let house = try await house()
        try await house.origin.add(OriginRule("/cmaf/video-90p/3.m4s") { $0.status = 404 })
        let download = try await lacking(404, in: house)
        #expect(download.state == .failed)
        #expect(download.failure?.message.contains("video-90p/3.m4s") ?? false)
    }
}
