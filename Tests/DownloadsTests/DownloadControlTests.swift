import Assets
import EventLoop
import Foundation
import HLS
import Orders
import Playheads
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Pause, resume, cancel, queue and seek.
@Suite @LoopActor struct DownloadControlTests {
    /// A fixture whose segments wait until they are released.
    private func held(running: Int = 3) async throws -> TestHouse {
        let fixture = try await TestHouse(.downloader { $0.running = running })
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        return fixture
    }

    private func release(_ fixture: TestHouse) async throws {
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
    }

    // MARK: Pause, resume, cancel

    @Test func aPausedDownloadFetchesNothingUntilResumed() async throws {
        let fixture = try await held()
        let download = try await fixture.start("/ts/master.m3u8")
        try await waitUntil("requests") { try await fixture.mediaRequests().count >= 5 }
        await fixture.downloader.pause(download)
        #expect(download.state == .paused)
        try await waitUntil("nobody waiting") { try await fixture.origin.load().paused == 0 }
        try await fixture.notes(.paused)
        try await release(fixture)
        try await fixture.restart()
        fixture.downloader.resume()
        #expect(try fixture.download("ts").state == .paused)
        #expect(try fixture.download("ts").progress.bytes == 0)
        await fixture.downloader.resume(try fixture.download("ts"))
        try await fixture.reaches(.complete, "ts")
    }

    @Test func aCancelledDownloadKeepsItsPiecesAndCanBeRestarted() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/90p/[345].ts") { $0.hold = true })
        let download = try await fixture.start("/ts/master.m3u8")
        try await waitUntil("the first half") { download.progress.loaded.duration == 6 }
        await fixture.downloader.cancel(download)
        #expect(download.state == .cancelled && download.progress.loaded.ranges == [0..<6])
        try await fixture.notes(.cancelled)
        try await release(fixture)
        try await fixture.origin.clearRequests()
        let again = try await fixture.start("/ts/master.m3u8")
        #expect(again === download)
        try await fixture.reaches(.complete, "ts")
        #expect(try await fixture.mediaRequests().sorted() == ["/ts/90p/3.ts", "/ts/90p/4.ts", "/ts/90p/5.ts"])
    }

    @Test func aFinishedDownloadCannotBePausedOrCancelled() async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.complete, "ts")
        await fixture.downloader.pause(download)
        await fixture.downloader.cancel(download)
        #expect(download.state == .complete)
    }

    @Test func resumeRetriesAWaitingDownloadAtOnce() async throws {
        let fixture = try await TestHouse(.downloader { $0.pauses = .seconds(600)...(.seconds(600)) })
        try await fixture.origin.add(OriginRule("*.ts") { $0.resetAfter = -1 })
        let download = try await fixture.start("/ts/master.m3u8")
        try await fixture.reaches(.waiting, "ts")
        try await fixture.origin.clearRules()
        await fixture.downloader.resume(download)
        try await fixture.reaches(.complete, "ts")
    }

    // MARK: The queue

    @Test func limitsRunningDownloadsAndKeepsTheOrder() async throws {
        let fixture = try await held(running: 1)
        var begun: [String] = []
        let subscription = fixture.downloader.changes.subscribe { download, event in
            if case .state = event, download.state == .running {
                begun.append(download.asset.name)
            }
        }
        let first = try await fixture.start("/ts/master.m3u8")
        let second = try await fixture.start("/aes/master.m3u8")
        var important = DownloadOrder(Selection(quality: .worst))
        important.priority = .important
        let third = try await fixture.downloader.start(fixture.open("/aes-noiv/master.m3u8"), important)
        #expect([first, second, third].map(\.state) == [.running, .queued, .queued])
        try await release(fixture)
        try await waitUntil("the end") { [first, second, third].allSatisfy { $0.state == .complete } }
        #expect(begun == ["ts", "aes-noiv", "aes"])
        subscription.cancel()
    }

    @Test func aPauseStartsTheNextDownload() async throws {
        let fixture = try await held(running: 1)
        let first = try await fixture.start("/ts/master.m3u8")
        let second = try await fixture.start("/aes/master.m3u8")
        await fixture.downloader.pause(first)
        #expect(second.state == .running)
        await fixture.downloader.resume(first)
        #expect(first.state == .queued)
        try await release(fixture)
        try await waitUntil("the end") { [first, second].allSatisfy { $0.state == .complete } }
    }

    @Test func theQueueSurvivesARestart() async throws {
        let fixture = try await held(running: 1)
        try await fixture.start("/ts/master.m3u8")
        try await fixture.start("/aes/master.m3u8")
        try await fixture.restart()
        fixture.downloader.resume()
        #expect(try fixture.download("aes").state == .queued)
        try await release(fixture)
        try await fixture.reaches(.complete, "aes")
        #expect(try fixture.download("ts").state == .complete)
    }

    // MARK: Selections

    @Test func aRangeFetchesItsSegmentsAndAFullDownloadTheRest() async throws {
        let fixture = try await TestHouse(.downloader())
        let asset = try await fixture.open("/cmaf/master.m3u8")
        let selection = Selection(quality: .worst, audio: .nothing)
        let download = try await fixture.downloader.start(asset, DownloadOrder(selection, range: MediaRange(2.5..<4)))
        try await fixture.reaches(.complete, "cmaf")
        #expect(
            try await fixture.mediaRequests().map { String($0.split(separator: "/").last ?? "") }.sorted()
                == ["2.m4s", "3.m4s", "init.mp4"])
        #expect(download.progress.fraction == 1 && download.progress.expected.ranges == [2..<4])
        try await fixture.origin.clearRequests()
        let whole = try await fixture.downloader.start(asset, DownloadOrder(selection))
        #expect(whole === download)
        try await waitUntil("the rest") { download.state == .complete }
        #expect(download.renditions.allSatisfy(\.isComplete) && download.progress.loaded.ranges == [0..<12])
        #expect(try await fixture.mediaRequests().count == 10)
    }

    @Test func aRangePastTheEndIsRefused() async throws {
        let fixture = try await TestHouse(.downloader())
        let asset = try await fixture.open("/ts/master.m3u8")
        await #expect {
            try await fixture.downloader.start(asset, DownloadOrder(Selection(), range: MediaRange(100..<200)))
        } throws: { error in
            if case Downloader.Refusal.noSuchTime("ts", 12) = error {
                true
            } else {
                false
            }
        }
    }

    @Test func severalSelectionsAreOneTaskAndShareTheirVideo() async throws {
        let fixture = try await TestHouse(.downloader())
        let order = DownloadOrder(
            Selection(quality: .worst, audio: .languages(["en"])),
            Selection(quality: .worst, audio: .languages(["fr"]), subtitles: .all))
        let download = try await fixture.downloader.start(fixture.open("/cmaf/master.m3u8"), order)
        #expect(download.ids == ["video-90p", "audio-en", "audio-fr", "subtitles-en"])
        try await fixture.reaches(.complete, "cmaf")
        let requests = try await fixture.mediaRequests()
        #expect(Set(requests).count == requests.count)
    }

    /// Mission S9: the first of the second selection comes after the last of the first, also with parallel requests.
    @Test func s9SelectionsAreFetchedOneAfterTheOther() async throws {
        let fixture = try await TestHouse(.downloader())
        var complete: [[String]] = []
        let subscription = fixture.downloader.changes.subscribe { _, event in
            if case .selectionComplete(let selected) = event {
                complete.append(selected.renditions)
            }
        }
        let order = DownloadOrder(
            Selection(quality: .height(180), audio: .languages(["en"])),
            Selection(quality: .worst, audio: .languages(["fr"])),
            Selection(quality: .worst, audio: .nothing, subtitles: .all))
        let download = try await fixture.downloader.start(fixture.open("/cmaf/master.m3u8"), order)
        try await fixture.reaches(.complete, "cmaf")
        let folders = try await fixture.mediaRequests().map { String($0.split(separator: "/")[1]) }
        let selections = [["video-180p", "audio-en"], ["video-90p", "audio-fr"], ["subtitles-en"]]
        let places = folders.map { folder in selections.firstIndex { $0.contains(folder) } ?? 9 }
        #expect(places == places.sorted() && Set(places) == [0, 1, 2], "\(folders)")
        #expect(complete == [selections[0], selections[1], ["video-90p", "subtitles-en"]])
        #expect(download.progress.selections.map(\.isComplete) == [true, true, true])
        subscription.cancel()
    }

    @Test func aRangeOfOneSelectionComesBeforeTheRestOfAnother() async throws {
        let fixture = try await TestHouse(.downloader())
        let selection = Selection(quality: .worst, audio: .nothing)
        let asset = try await fixture.open("/cmaf/master.m3u8")
        var first = DownloadOrder(selection)
        first.paused = true
        _ = try await fixture.downloader.start(asset, first)
        let download = try await fixture.downloader.start(asset, DownloadOrder(selection, range: MediaRange(8..<10)))
        try await fixture.reaches(.complete, "cmaf")
        let segments = try await fixture.mediaRequests().compactMap {
            $0.hasSuffix(".m4s") ? $0.split(separator: "/").last.map(String.init) : nil
        }
        #expect(Set(segments.prefix(2)) == ["8.m4s", "9.m4s"] && Set(segments).count == segments.count, "\(segments)")
        #expect(segments.count == 12 && download.progress.selections.map(\.isComplete) == [true, true])
    }

    @Test func noteAndPriorityAndSelectionSurviveARestart() async throws {
        let fixture = try await held()
        var order = DownloadOrder(Selection(quality: .heightAtMost(100)), range: MediaRange(0..<5))
        order.note = "for the train"
        order.priority = .important
        order.paused = true
        let download = try await fixture.downloader.start(fixture.open("/ts/master.m3u8"), order)
        #expect(download.state == .paused)
        let task = download.task
        try await fixture.restart()
        #expect(try fixture.download("ts").task == task)
        #expect(try fixture.download("ts").task.items.map(\.range) == [MediaRange(0..<5)])
    }

    // MARK: The playhead

    @Test func aSeekMovesTheDownloadAndEarlierSegmentsComeLast() async throws {
        let fixture = try await TestHouse(.downloader { $0.parallel = 1 })
        let segments = { () async throws in
            try await fixture.mediaRequests().filter { $0.hasSuffix(".m4s") }.compactMap {
                Int($0.dropFirst("/cmaf/video-90p/".count).dropLast(".m4s".count))
            }
        }
        try await fixture.origin.add(OriginRule("/cmaf/video-90p/*.m4s") { $0.hold = true })
        let download = try await fixture.start("/cmaf/master.m3u8", Selection(quality: .worst, audio: .nothing))
        try await waitUntil("the first request") { try await segments() == [0] }

        // A player seeks in another quality.
        let rendition = try #require(download.asset.rendition("video-180p"))
        _ = try await fixture.library.playlists.source(of: rendition, in: download.asset)
        let cursor = try #require(fixture.library.playheads.cursor(of: "a12345", in: download.asset, "video-180p"))
        for file in ["0.m4s", "1.m4s", "2.m4s", "8.m4s"] {
            cursor.beginWait(for: file)
            cursor.endWait(for: file, isComplete: true)
        }
        try await waitUntil("the request behind the seek") { try await segments() == [0, 9] }
        try await release(fixture)
        try await fixture.reaches(.complete, "cmaf")
        #expect(try await segments() == [0, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8])
    }

    @Test func aSeekDoesNotRestartFetchesUnderWay() async throws {
        let fixture = try await TestHouse(.downloader { $0.parallel = 2 })
        try await fixture.origin.add(OriginRule("/cmaf/video-90p/*.m4s") { $0.pauseAfter = 500 })
        let download = try await fixture.start("/cmaf/master.m3u8", Selection(quality: .worst, audio: .nothing))
        try await waitUntil("two on their way") { try await fixture.origin.load().paused == 2 }
        let rendition = try #require(download.asset.rendition("video-180p"))
        _ = try await fixture.library.playlists.source(of: rendition, in: download.asset)
        let cursor = try #require(fixture.library.playheads.cursor(of: "a12345", in: download.asset, "video-180p"))
        for file in ["0.m4s", "1.m4s", "2.m4s", "8.m4s", "1.m4s"] {
            cursor.beginWait(for: file)
            cursor.endWait(for: file, isComplete: true)
        }
        try await release(fixture)
        try await fixture.reaches(.complete, "cmaf")
        // A transfer that stops for the player is continued behind its bytes.
        let requests = try await fixture.mediaRequests()
        let begun = requests.filter { !$0.contains(" bytes=") }
        #expect(begun.count == 13 && Set(begun).count == 13, "\(requests)")
        #expect(requests.allSatisfy { !$0.contains(" bytes=0-") }, "\(requests)")
    }

    // MARK: Events

    @Test func subscribersGetStatesProgressAndRenditions() async throws {
        let fixture = try await TestHouse(.downloader())
        var events: [String] = []
        let subscription = fixture.downloader.changes.subscribe { download, event in
            switch event {
            case .state: events.append(download.state.rawValue)
            case .progress: events.append("progress")
            case .renditionComplete(let id): events.append(id)
            case .selectionResolved(let selected): events.append("resolved: \(selected.renditions)")
            case .selectionsFurther: events.append("further")
            case .selectionComplete(let selected): events.append("complete: \(selected.renditions)")
            case .removed: events.append("removed")
            }
        }
        let download = try await fixture.start("/cmaf/master.m3u8")
        try await fixture.reaches(.complete, "cmaf")
        let ids = ["video-90p", "audio-en"]
        #expect(Array(events.prefix(4)) == ["resolved: \(ids)", "further", "queued", "running"])
        // Progress may be reported until the last comparison with the origin has ended.
        #expect(events.filter { $0 != "progress" }.suffix(2) == ["complete: \(ids)", "complete"])
        #expect(events.contains("progress"))
        #expect(events.filter { $0.contains("-") && !$0.contains(":") }.sorted() == ["audio-en", "video-90p"])
        fixture.downloader.forget(download.asset)
        #expect(events.last == "removed")
        subscription.cancel()
        try await fixture.start("/ts/master.m3u8")
        #expect(events.last == "removed")
    }

    @Test func aRowOfANewerVersionIsReportedAndKept() async throws {
        let fixture = try await held()
        let download = try await fixture.start("/ts/master.m3u8")
        try await fixture.notes(.running)
        var record = download.record
        record.task = #"{"version":99}"#
        try await fixture.library.records.save([record])
        try await fixture.restart()
        let restored = try fixture.download("ts")
        #expect(restored.state == .failed && restored.failure?.message.contains("newer Weir") ?? false)
        await fixture.downloader.resume(restored)
        await fixture.downloader.cancel(restored)
        await #expect(throws: Downloader.Refusal.self) { try await fixture.start("/ts/master.m3u8") }
        try await release(fixture)
        try await fixture.restart()
        #expect(fixture.library.records.downloads.map(\.task) == [#"{"version":99}"#])
    }

    @Test func aRowOfAnOlderVersionSelectsFullRenditions() async throws {
        let fixture = try await held()
        let download = try await fixture.start("/ts/master.m3u8")
        var record = download.record
        record.task = nil
        record.need = nil
        try await fixture.library.records.save([record])
        try await release(fixture)
        try await fixture.restart()
        fixture.downloader.resume()
        try await fixture.reaches(.complete, "ts")
    }
}
