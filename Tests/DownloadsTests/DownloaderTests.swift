import Assets
import EventLoop
import Fetching
import Foundation
import HLS
import HTTPMessage
import Orders
import Origin
import Retention
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads

@Suite @LoopActor struct DownloadsTests {
    @Test(arguments: Repository.fixtures)
    func downloadsEveryPresentationWithOneRequestPerResource(_ name: String) async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await fixture.start("/\(name)/master.m3u8")
        try await fixture.reaches(.complete, name)
        #expect(download.isComplete)
        #expect(download.failure == nil)
        #expect(download.asset.isPlayableOffline)
        let progress = download.progress
        #expect(progress.stage == nil)
        #expect(progress.loaded.ranges.count == 1)
        #expect(abs(progress.loaded.duration - progress.duration) < 0.1)
        let requests = try await fixture.mediaRequests()
        #expect(Set(requests).count == requests.count)
        #expect(fixture.folder.files().contains("assets/\(download.asset.id)/master.m3u8"))
        #expect(!fixture.folder.files().contains { $0.hasPrefix("tmp/") })
    }

    @Test func startingAgainAttachesToTheRunningDownload() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        let first = try await fixture.start("/ts/master.m3u8")
        let second = try await fixture.start("/ts/master.m3u8")
        #expect(first === second)
        #expect(fixture.downloader.downloads.count == 1)
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        try await fixture.reaches(.complete, "ts")
        #expect(try await fixture.mediaRequests().count == 6)
    }

    @Test func furtherRenditionsAreAddedToTheDownload() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.start("/cmaf/master.m3u8")
        try await fixture.reaches(.complete, "cmaf")
        let before = try await fixture.mediaRequests().count
        let download = try await fixture.start(
            "/cmaf/master.m3u8", Selection(quality: .worst, audio: .languages(["fr"]), subtitles: .all))
        #expect(download.ids == ["video-90p", "audio-fr", "subtitles-en", "audio-en"])
        try await fixture.reaches(.complete, "cmaf")
        #expect(
            try await fixture.mediaRequests().dropFirst(before).allSatisfy {
                !$0.contains("/video") && !$0.contains("-en/") || $0.contains("subtitles")
            })
        try await fixture.restart()
        #expect(try fixture.download("cmaf").ids == download.ids)
        #expect(try fixture.download("cmaf").isComplete)
    }

    @Test func aDownloadOfAKilledProcessContinuesWithItsHoles() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(
            OriginRule("/ts/90p/3.ts") { $0.hold = true }, OriginRule("/ts/90p/5.ts") { $0.pauseAfter = 1000 })
        let download = try await fixture.start("/ts/master.m3u8")
        try await waitUntil("four pieces") { download.asset.bytes > 0 && download.progress.loaded.duration == 8 }
        #expect(download.progress.loaded.ranges == [0..<6, 8..<10])
        try await fixture.origin.clearRules()
        try await fixture.restart()
        try await fixture.origin.clearRequests()

        #expect(try fixture.download("ts").state == .running)
        fixture.downloader.resume()
        try await fixture.reaches(.complete, "ts")
        #expect(try await fixture.mediaRequests().sorted() == ["/ts/90p/3.ts", "/ts/90p/5.ts"])
        // And those that compare the stored content with the origin's, before and after.
        #expect(try await fixture.origin.requests().map(\.isComparison) == [true, false, false, true])
    }

    @Test func aDownloadWaitsForAnAbsentOriginAndContinues() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/90p/[345].ts") { $0.hold = true })
        let download = try await fixture.start("/ts/master.m3u8")
        try await waitUntil("the first half") { download.progress.loaded.duration == 6 }
        try await fixture.origin.stop()
        try await fixture.reaches(.waiting, "ts")
        #expect(download.failure?.code == .library(.originAbsent))
        #expect(download.bytesPerSecond == nil)
        try await fixture.origin.restart()
        try await fixture.reaches(.complete, "ts")
        #expect(download.failure == nil)
        // A probe may have found the origin present again.
        let requests = try await fixture.mediaRequests().filter { !$0.hasSuffix(" bytes=0-0") }
        #expect(requests.sorted() == ["/ts/90p/3.ts", "/ts/90p/4.ts", "/ts/90p/5.ts"])
    }

    @Test func aNewRequestRetriesAWaitingDownloadAtOnce() async throws {
        let fixture = try await TestHouse(.downloader { $0.pauses = .seconds(600)...(.seconds(600)) })
        let asset = try await fixture.open("/ts/master.m3u8")
        try await fixture.origin.add(OriginRule("*.ts") { $0.resetAfter = -1 })
        let first = try await fixture.downloader.start(asset, DownloadOrder(Selection(quality: .worst)))
        try await waitUntil("the waiting") { first.state == .waiting }
        try await fixture.origin.clearRules()
        let second = try await fixture.downloader.start(asset, DownloadOrder(Selection(quality: .worst)))
        try await waitUntil("the end") { second.state == .complete }
    }

    @Test func lostPiecesAreFetchedAgain() async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.complete, "ts")
        try await fixture.origin.clearRequests()
        for number in [1, 4] {
            try FileManager.default.removeItem(
                atPath: fixture.folder.path("assets/\(download.asset.id)/video-90p/\(number).ts"))
        }
        try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.complete, "ts")
        #expect(try await fixture.mediaRequests().sorted() == ["/ts/90p/1.ts", "/ts/90p/4.ts"])
    }

    // MARK: Refusals and failures

    @Test func aLiveStreamIsRefused() async throws {
        let fixture = try await TestHouse(.downloader())
        for path in ["/_live/a/master.m3u8", "/_live/a/media.m3u8"] {
            await #expect { try await fixture.start(path) } throws: { error in
                if case Downloader.Refusal.live = error {
                    true
                } else {
                    false
                }
            }
        }
        #expect(fixture.downloader.downloads.isEmpty)
        try await fixture.restart()
        #expect(fixture.downloader.downloads.isEmpty)
    }

    @Test func protectedContentIsRefused() async throws {
        let fixture = try await TestHouse(.downloader())
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT="com.apple.streamingkeydelivery",URI="skd://x"
            #EXTINF:2,
            0.ts
            #EXT-X-ENDLIST
            """
        try await fixture.origin.add(OriginRule("/drm.m3u8") { ($0.status, $0.body) = (200, text) })
        await #expect { try await fixture.start("/drm.m3u8") } throws: { error in
            if case Downloader.Refusal.needsDRM = error {
                true
            } else {
                false
            }
        }
    }

    @Test func aSelectionWithoutAMatchIsRefused() async throws {
        let fixture = try await TestHouse(.downloader())
        await #expect { try await fixture.start("/ts/master.m3u8", Selection(quality: .height(4320))) } throws: {
            error in
            if case Downloader.Refusal.noMatch = error {
                true
            } else {
                false
            }
        }
        #expect(fixture.downloader.downloads.isEmpty)
    }

    /// Expects that the second best variant is downloaded, and returns the sentence that says so.
    private func expectTheNextBest(_ download: Download, _ fixture: TestHouse) async throws -> String {
        try await fixture.reaches(.complete, "ts")
        #expect(download.ids == ["video-180p"])
        let sentence = try #require(download.shortfall).message
        #expect(sentence.contains("/ts/270p/media.m3u8") && sentence.hasSuffix("the next best quality is downloaded"))
        return sentence
    }

    /// A dead best variant never ends a download with nothing.
    @Test(arguments: [404, 403, 410]) func theNextBestVariantReplacesAnUnavailableOne(_ status: Int) async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/270p/media.m3u8") { $0.status = status })
        let download = try await fixture.start("/ts/master.m3u8", Selection(quality: .best))
        let sentence = try await expectTheNextBest(download, fixture)
        try await fixture.notes(.complete)
        try await fixture.restart()
        #expect(try fixture.download("ts").shortfall?.message == sentence)

        // When the variant is back, the same order gets it.
        try await fixture.origin.clearRules()
        let again = try await fixture.start("/ts/master.m3u8", Selection(quality: .best))
        try await fixture.reaches(.complete, "ts")
        #expect(again.ids.first == "video-270p" && again.shortfall == nil)
    }

    /// The best variant's playlist is invalid, or names nothing.
    @Test(arguments: [
        "<html>Moved</html>", "", "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-ENDLIST\n",
        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n../90p/media.m3u8\n",
    ])
    func theNextBestVariantReplacesAUselessOne(_ body: String) async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/270p/media.m3u8") { ($0.status, $0.body) = (200, body) })
        let download = try await fixture.start("/ts/master.m3u8", Selection(quality: .best))
        try await fixture.reaches(.complete, "ts")
        #expect(download.ids.first == "video-180p" && download.shortfall != nil)
    }

    /// It would fetch again what was just deleted, also after a restart.
    @Test(arguments: [true, false]) func aPurgeEndsTheDownload(_ isExpired: Bool) async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/90p/[345].ts") { $0.hold = true })
        let download = try await fixture.start("/ts/master.m3u8")
        try await waitUntil("the first half") { download.progress.loaded.duration == 6 }
        if isExpired {
            try await fixture.retention.setPolicy(StoragePolicy(expires: 1), of: download.asset)
        }
        fixture.library.events.send(.willPurge(download.asset, reason: "ts was purged"))
        let code: JobFailure.Code = isExpired ? .library(.expired) : .store(.diskFull)
        #expect(download.state == .failed && download.failure?.code == code)
        try await waitUntil("no request") { try await fixture.origin.load().paused == 0 }
        try await fixture.notes(.failed)
        try await fixture.restart()
        fixture.downloader.resume()
        let restored = try fixture.download("ts")
        #expect(restored.state == .failed && restored.failure?.message == "ts was purged")
    }

    @Test func aMissingAudioRenditionIsLeftOut() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/cmaf/audio-en/media.m3u8") { $0.status = 404 })
        let download = try await fixture.start("/cmaf/master.m3u8", Selection(quality: .worst))
        try await fixture.reaches(.complete, "cmaf")
        #expect(download.ids == ["video-90p"])
        #expect(download.shortfall?.message.contains("the other tracks are downloaded") ?? false)
    }

    /// The origin accepts the request for the best variant's playlist and never answers.
    @Test func theNextBestVariantReplacesASilentOne() async throws {
        let fixture = try await TestHouse(.giveUpRule { $0.playlistDeadline = .seconds(1) }, .downloader())
        try await fixture.origin.add(OriginRule("/ts/270p/media.m3u8") { $0.hold = true })
        let download = try await fixture.start("/ts/master.m3u8", Selection(quality: .best))
        _ = try await expectTheNextBest(download, fixture)

        // When the variant answers again, the same order gets it.
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        let again = try await fixture.start("/ts/master.m3u8", Selection(quality: .best))
        try await fixture.reaches(.complete, "ts")
        #expect(again.ids.first == "video-270p" && again.shortfall == nil)
    }

    /// The playlist of the best variant is there, and its segments are not.
    @Test(arguments: [404, 403]) func theNextBestVariantReplacesOneWithoutSegments(_ status: Int) async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/270p/*.ts") { $0.status = status })
        let download = try await fixture.start("/ts/master.m3u8", Selection(quality: .best))
        try await fixture.reaches(.complete, "ts")
        #expect(download.ids.first == "video-180p")
        #expect(download.shortfall?.message.contains("/ts/270p/") ?? false, "\(download.shortfall?.message ?? "")")
        try await fixture.notes(.complete)
        try await fixture.restart()
        #expect(try fixture.download("ts").shortfall != nil)
    }

    /// The segments of the best variant are there, and its initialization section or its only key is not.
    @Test(arguments: [
        ("cmaf", "video-270p", "video-180p"), ("aes", "180p", "video-90p"),
    ])
    func theNextBestVariantReplacesOneThatCannotBePlayed(
        _ name: String, _ variant: String, _ next: String
    ) async throws {
        let fixture = try await TestHouse(.downloader())
        let path = "/\(name)/\(variant)/media.m3u8"
        let text = String(decoding: try Repository.fixture(path), as: UTF8.self)
        let lines = text.split(separator: "\n").map { line in
            ["init.mp4", "../keys/0.key", "../keys/1.key", "../keys/2.key"].reduce(String(line)) {
                $0.replacing($1, with: "gone")
            }
        }
        let body = lines.joined(separator: "\n") + "\n"
        try await fixture.origin.add(OriginRule(path) { ($0.status, $0.body) = (200, body) })
        let download = try await fixture.start("/\(name)/master.m3u8", Selection(quality: .best))
        try await fixture.reaches(.complete, name)
        #expect(download.ids.first == next)
        #expect(
            download.shortfall?.message.contains("/\(variant)/gone") ?? false, "\(download.shortfall?.message ?? "")")
    }

    /// An encoder that failed: the segments are there, without a byte.
    @Test func theNextBestVariantReplacesAnEmptyOne() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/270p/*.ts") { ($0.status, $0.body) = (200, "") })
        let download = try await fixture.start("/ts/master.m3u8", Selection(quality: .best))
        try await fixture.reaches(.complete, "ts")
        #expect(download.ids.first == "video-180p" && download.shortfall?.message.contains("is empty") ?? false)
    }

    /// The last range ends, or begins, behind the end of the file.
    @Test(arguments: ["9999999@", "10@9999999"])
    func aRangeBeyondTheFileIsReportedAndTheRestIsStored(_ range: String) async throws {
        let fixture = try await TestHouse(.downloader())
        let path = "/byterange-ts/90p/media.m3u8"
        let text = String(decoding: try Repository.fixture(path), as: UTF8.self)
        let last = try #require(text.split(separator: "\n").last { $0.hasPrefix("#EXT-X-BYTERANGE:") })
        let offset = range.hasSuffix("@") ? String(last.split(separator: "@")[1]) : ""
        let body = text.replacing(last, with: "#EXT-X-BYTERANGE:\(range)\(offset)")
        try await fixture.origin.add(OriginRule(path) { ($0.status, $0.body) = (200, body) })
        let download = try await fixture.start(path)
        try await fixture.reaches(.failed, download.asset.name)
        let rendition = try #require(download.asset.content.lone)
        #expect(rendition.folder.sizes.count == 5)
        #expect(download.failure?.message.contains("/byterange-ts/90p/") ?? false)
    }

    @Test func aPlaylistThatSkipsSegmentsIsStoredAsFarAsItIsListed() async throws {
        let fixture = try await TestHouse(.downloader())
        let text = String(decoding: try Repository.fixture("/ts/90p/media.m3u8"), as: UTF8.self)
        let body = text.replacing("#EXTINF", with: "#EXT-X-SKIP:SKIPPED-SEGMENTS=2\n#EXTINF", maxReplacements: 1)
        try await fixture.origin.add(OriginRule("/ts/90p/media.m3u8") { ($0.status, $0.body) = (200, body) })
        let download = try await fixture.start("/ts/90p/media.m3u8")
        try await fixture.reaches(.complete, download.asset.name)
        #expect(download.shortfall?.message.contains("skips 2 segments") ?? false)
    }

    /// An expired link, for instance: the task must stay as ordered, for a new link.
    @Test func aDownloadOfWhichNoVariantHasSegmentsStaysAsOrdered() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/*.ts") { $0.status = 404 })
        let download = try await fixture.start("/ts/master.m3u8", Selection(quality: .best))
        try await fixture.reaches(.failed, "ts")
        #expect(download.ids.first == "video-270p" && download.shortfall == nil)
        #expect(download.failure?.message.contains("/ts/270p/") ?? false)
    }

    @Test func theNextBestVariantReplacesOneWhoseHostIsGone() async throws {
        let fixture = try await TestHouse(.downloader())
        let dead = "http://gone.invalid/270p"
        let text = String(decoding: try Repository.fixture("/ts/master.m3u8"), as: UTF8.self)
        try await fixture.origin.add(
            OriginRule("/ts/other.m3u8") { ($0.status, $0.body) = (200, text.replacing("\n270p", with: "\n\(dead)")) })
        let download = try await fixture.start("/ts/other.m3u8", Selection(quality: .best))
        try await fixture.reaches(.complete, "other")
        #expect(
            download.ids.first == "video-180p" && download.shortfall?.message.contains("gone.invalid/270p") ?? false)
    }

    @Test func aRequiredQualityThatIsUnavailableIsNotReplaced() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/270p/media.m3u8") { $0.status = 404 })
        await #expect { try await fixture.start("/ts/master.m3u8", Selection(quality: .height(270))) } throws: {
            error in
            if case Downloader.Refusal.library = error {
                true
            } else {
                false
            }
        }
        try await fixture.origin.add(OriginRule("*/media.m3u8") { $0.status = 404 })
        await #expect { try await fixture.start("/ts/master.m3u8", Selection(quality: .best)) } throws: { error in
            if case Downloader.Refusal.library(let error) = error {
                error.message.contains("/270p/")
            } else {
                false
            }
        }
        #expect(fixture.downloader.downloads.isEmpty)
    }

    @Test(arguments: [(404, LibraryError.Code.missing), (403, .originRefused), (500, .badOrigin)])
    func anUnavailableSegmentFailsTheDownloadAndTheRestIsKept(_ status: Int, _ code: LibraryError.Code) async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/90p/2.ts") { $0.status = status })
        let download = try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.failed, "ts")
        #expect(download.failure?.code == .library(code))
        #expect(download.progress.bytes > 0)
        try await fixture.notes(.failed)
        try await fixture.restart()
        #expect(try fixture.download("ts").failure?.code == .library(code))

        try await fixture.origin.clearRules()
        try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.complete, "ts")
    }

    @Test func aDownloadWaitsForDiskSpaceAndContinues() async throws {
        let fixture = try await TestHouse(.reserve(.max), .downloader())
        var order = DownloadOrder(Selection(quality: .worst))
        await #expect {
            try await fixture.downloader.start(fixture.open("/ts/master.m3u8"), order)
        } throws: { error in
            if case Downloader.Refusal.noRoom(_, let needed, 0, false) = error {
                needed > 10_000
            } else {
                false
            }
        }
        #expect(fixture.downloader.downloads.isEmpty)
        order.ignoreSpace = true
        let download = try await fixture.downloader.start(fixture.open("/ts/master.m3u8"), order)
        try await fixture.reaches(.waiting, "ts")
        #expect(download.need == .space && download.failure?.code == .store(.diskFull))
        #expect(download.asset.bytes == 0)
        try await fixture.notes(.waiting)
        try await fixture.restart(.reserve(0))
        #expect(try fixture.download("ts").need == .space)
        fixture.downloader.resume()
        try await fixture.reaches(.complete, "ts")
    }

    @Test func anUnavailablePieceDoesNotBlockTheOthers() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/90p/[13].ts") { $0.status = 404 })
        let download = try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.failed, "ts")
        #expect(download.progress.loaded.ranges == [0..<2, 4..<6, 8..<12])
        #expect(download.failure?.message.hasSuffix("; so is 1 more") ?? false)
    }

    @Test func transientErrorsAreCountedSinceTheLastPiece() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/90p/2.ts") { $0.status = 503 })
        let download = try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.waiting, "ts")
        #expect(download.need == .network && download.failure?.code == .library(.badOrigin))
        try await fixture.origin.clearRules()
        try await fixture.reaches(.complete, "ts")
    }

    @Test func aDownloadWaitsForARefusedKey() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("*.key") { $0.status = 403 })
        let download = try await fixture.start("/aes/master.m3u8")
        try await fixture.reaches(.waiting, "aes")
        #expect(download.need == .key && download.failure?.code == .library(.originRefused))
        try await fixture.origin.clearRules()
        try await fixture.reaches(.complete, "aes")
        #expect(download.need == nil && download.failure == nil)
    }

    // MARK: Removal

    @Test func aRemovedDownloadFetchesNothing() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        let download = try await fixture.start("/ts/master.m3u8")
        try await waitUntil("requests") { try await fixture.mediaRequests().count >= 5 }
        fixture.downloader.forget(download.asset)
        #expect(fixture.downloader.downloads.isEmpty)
        try await waitUntil("nobody waiting") { try await fixture.origin.load().paused == 0 }
        _ = try await fixture.library.remove(download.asset)
        try await fixture.origin.release()
        try await waitUntil("an empty store") {
            !fixture.folder.files().contains { $0.hasPrefix("assets/") || $0.hasPrefix("tmp/") }
        }
        try await fixture.restart()
        #expect(fixture.downloader.downloads.isEmpty)
    }

    @Test func aRemovalDuringTheStartLeavesNoDownload() async throws {
        let fixture = try await TestHouse(.downloader())
        let asset = try await fixture.open("/ts/master.m3u8")
        try await fixture.origin.add(OriginRule("*/media.m3u8") { $0.hold = true })
        let start = Task { @LoopActor in try await fixture.downloader.start(asset, DownloadOrder()) }
        try await waitUntil("the request") { try await fixture.origin.load().paused == 1 }
        fixture.downloader.forget(asset)
        _ = try await fixture.library.remove(asset)
        try await fixture.origin.release()
        await #expect(throws: Downloader.Refusal.self) { try await start.value }
        #expect(fixture.downloader.downloads.isEmpty)
        let playlists = try await fixture.origin.requests().filter { $0.path.hasSuffix("/media.m3u8") }
        #expect(playlists.count == 1, "no other variant is tried")
    }

    @Test func aPlayerAndADownloadShareOneRequest() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("*/0.ts") { $0.pauseAfter = 1000 })
        let download = try await fixture.start("/ts/master.m3u8")
        let rendition = try #require(download.renditions.first)
        try await waitUntil("the first segment under way") {
            try await fixture.origin.requests(for: "/ts/90p/0.ts").first?.state == "paused"
        }
        let resource = try #require(PieceName("0.ts").flatMap { rendition.resource(named: $0) })
        let fetch = try fixture.library.fetch(
            resource, in: rendition.folder, of: download.asset, urgency: .playback)
        #expect(fetch.written > 0)
        try await fixture.origin.release()
        try await fixture.reaches(.complete, "ts")
        #expect(fetch.isPiece)
        fetch.release()
        #expect(try await fixture.mediaRequests().count == 6)
    }
}
