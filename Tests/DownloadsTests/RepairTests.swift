import Assets
import EventLoop
import Foundation
import Glibc
import Orders
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads
@testable import Integrity

/// Repair of damaged and missing pieces: its requests and its schedule.
@Suite @LoopActor struct RepairTests {
    /// The smallest variant of a fixture, stored completely and with its ledger lines.
    private func stored(_ fixture: TestHouse, _ name: String) async throws -> Download {
        let download = try await fixture.start("/\(name)/master.m3u8")
        try await fixture.reaches(.complete, name)
        try await fixture.origin.clearRequests()
        return download
    }

    private func flip(_ file: String, _ fixture: TestHouse) throws {
        try FileDamage.flipBit(of: try fixture.folder.find(file))
    }

    private func ended(_ job: VerificationJob) async throws -> VerificationJob {
        try await waitUntil("the end of the verification") { job.state.isFinal }
        return job
    }

    private func verify(
        _ fixture: TestHouse, _ asset: Asset, isRepair: Bool
    ) async throws -> VerificationJob {
        try await ended(try fixture.downloader.integrity.start(asset, isRepair: isRepair))
    }

    @Test func aRepairOfACompleteDownloadFetchesOnlyItsHoles() async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await stored(fixture, "ts")
        // Records the ledger lines before anything is damaged.
        #expect(try await verify(fixture, download.asset, isRepair: false).found == 0)
        try flip("video-90p/1.ts", fixture)
        try FileManager.default.removeItem(atPath: try fixture.folder.find("video-90p/4.ts"))

        let found = try await verify(fixture, download.asset, isRepair: false)
        #expect(found.state == .complete && found.found == 2)
        #expect(found.verification.report.remaining == 2)
        #expect(try await fixture.origin.requests().isEmpty)

        let repaired = try await verify(fixture, download.asset, isRepair: true)
        #expect(repaired.state == .complete && repaired.failure == nil)
        #expect(repaired.verification.report.remaining == 0)
        #expect(try await fixture.mediaRequests().sorted() == ["/ts/90p/1.ts", "/ts/90p/4.ts"])
        #expect(download.state == .complete && download.isComplete)
        #expect(fixture.folder.files().contains { $0.hasSuffix("video-90p/media.m3u8") })
    }

    @Test func aPausedDownloadStaysPausedAndOnlyDamageIsRepaired() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/ts/90p/5.ts") { $0.hold = true })
        let download = try await fixture.start("/ts/master.m3u8")
        try await waitUntil("five pieces") { download.progress.loaded.duration == 10 }
        await fixture.downloader.pause(download)
        #expect(try await verify(fixture, download.asset, isRepair: false).verification.faultCount == 0)
        try flip("video-90p/0.ts", fixture)
        try await fixture.origin.clearRequests()
        let job = try await verify(fixture, download.asset, isRepair: true)
        #expect(job.state == .complete && download.state == .paused)
        #expect(try await fixture.mediaRequests() == ["/ts/90p/0.ts"])
        // The pieces after the pause are still holes of the selection.
        #expect(job.verification.report.remaining == 1)
    }

    @Test func anOfflineRepairFailsWithTheReason() async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await stored(fixture, "ts")
        _ = try await verify(fixture, download.asset, isRepair: false)
        try flip("video-90p/1.ts", fixture)
        fixture.library.mode = .offline
        let job = try await verify(fixture, download.asset, isRepair: true)
        #expect(job.state == .failed && job.failure?.code == .library(.notStored))
        #expect(job.verification.report.remaining == 1)
        // The download resumes by itself once the library is online.
        fixture.library.mode = .auto
        fixture.downloader.retry(.network)
        try await fixture.reaches(.complete, "ts")
        #expect(try await fixture.mediaRequests() == ["/ts/90p/1.ts"])
    }

    @Test func cancellingEndsTheFetchesItStarted() async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await stored(fixture, "ts")
        _ = try await verify(fixture, download.asset, isRepair: false)
        try flip("video-90p/1.ts", fixture)
        try await fixture.origin.add(OriginRule("/ts/90p/1.ts") { $0.hold = true })
        let job = try fixture.downloader.integrity.start(download.asset, isRepair: true)
        try await waitUntil("a request") { try await fixture.mediaRequests().count == 1 }
        #expect(job.isRepairing)
        fixture.downloader.integrity.cancel(job)
        #expect(job.state == .cancelled)
        try await fixture.reaches(.paused, "ts")
        fixture.downloader.stop()
    }

    @Test func anEqualRequestAttaches() async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await stored(fixture, "ts")
        let integrity = fixture.downloader.integrity
        let first = try integrity.start(download.asset, isRepair: false)
        #expect(try integrity.start(download.asset, isRepair: false) === first)
        let repair = try integrity.start(download.asset, isRepair: true)
        #expect(repair !== first && first.state == .cancelled)
        #expect(try integrity.start(download.asset, isRepair: false) === repair)
        #expect(try await ended(repair).state == .complete)
        _ = try await fixture.library.remove(download.asset)
        fixture.downloader.forget(download.asset)
        #expect(integrity.jobs[download.asset] == nil)
    }

    // MARK: Schedule

    /// A clock that advances only on request.
    @LoopActor final class Clock {
        var time: Int64
        init(_ time: Int64) { self.time = time }
    }

    @Test func repairsDamageEveryThirtyDays() async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await stored(fixture, "ts")
        let asset = download.asset
        let clock = Clock(asset.created)
        let integrity = fixture.integrity { clock.time }
        let scrubber = Scrubber(integrity)
        _ = try await ended(try integrity.start(asset, isRepair: false))
        try flip("video-90p/2.ts", fixture)

        clock.time += Scrubber.span
        scrubber.check()
        #expect(integrity.isIdle && asset.verified == asset.created)
        clock.time += 1
        scrubber.check()
        #expect(!integrity.isIdle)
        try await waitUntil("the piece") { try await fixture.mediaRequests().count == 1 }
        try await fixture.reaches(.complete, "ts")
        #expect(download.isComplete && asset.verified == clock.time)
        #expect(try await fixture.mediaRequests() == ["/ts/90p/2.ts"])
        // Not repeated before the next due time.
        scrubber.check()
        clock.time += Scrubber.span
        scrubber.check()
        #expect(integrity.isIdle)
    }

    @Test func pausesDuringADownload() async throws {
        let fixture = try await TestHouse(.downloader())
        let download = try await stored(fixture, "aes")
        let clock = Clock(download.asset.created + Scrubber.span + 1)
        let integrity = fixture.integrity(bytesPerSecond: 1) { clock.time }
        let scrubber = Scrubber(integrity)
        try await fixture.origin.add(OriginRule("*.m4s") { $0.hold = true })
        let other = try await fixture.start("/cmaf/master.m3u8")
        scrubber.check()
        #expect(integrity.isIdle)
        await fixture.downloader.pause(other)
        scrubber.check()
        let job = try #require(integrity.jobs[download.asset])
        try await waitUntil("the first bytes") { job.verification.pace.bytes > 0 }
        await fixture.downloader.resume(other)
        scrubber.check()
        #expect(job.verification.pace.isPaused && job.state == .running)
        await fixture.downloader.pause(other)
        scrubber.check()
        #expect(!job.verification.pace.isPaused)
        // A requested verification takes precedence over a scheduled one.
        let asked = try integrity.start(other.asset, isRepair: false)
        #expect(job.state == .cancelled && asked.state == .running)
        integrity.stop()
        fixture.downloader.stop()
    }
}
