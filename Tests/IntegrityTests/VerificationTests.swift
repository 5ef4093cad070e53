import EventLoop
import Foundation
import Glibc
import Orders
import Retention
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching
@testable import Integrity

/// Verification of an asset: the report, and the effect on its files.
@Suite @LoopActor struct VerificationTests {
    private func verify(_ fixture: TestHouse, _ asset: Asset) async throws -> VerificationReport {
        let verification = try fixture.integrity.verification(of: asset, bytesPerSecond: 0)
        try await fixture.integrity.verify(verification, at: 1_000_000)
        #expect(verification.isComplete)
        return verification.report
    }

    private func stored(_ fixture: TestHouse, _ name: String, _ ids: String...) async throws -> Asset {
        let asset = try await fixture.open("/\(name)/master.m3u8")
        for id in ids {
            try await fixture.fetch(id, of: asset)
        }
        await fixture.flush()
        return asset
    }

    private func flip(_ file: String, _ fixture: TestHouse) throws {
        try FileDamage.flipBit(of: try fixture.folder.find(file))
    }

    @Test func anUndamagedAssetIsCompleteAndTheTimeIsRecorded() async throws {
        let fixture = try await TestHouse()
        let asset = try await stored(fixture, "cmaf", "video-90p", "audio-en")
        #expect(asset.verified == nil)
        let report = try await verify(fixture, asset)
        #expect(report.parts.map(\.id) == ["audio-en", "video-90p"])
        #expect(report.remaining == 0)
        for part in report.parts {
            #expect(part.holes.isEmpty && part.mismatches.isEmpty && part.stored.count == 1)
            #expect(part.stored.first.map { $0.lowerBound == 0 && (11.9...12.2).contains($0.upperBound) } == true)
            #expect(part.bytes == asset.rendition(part.id)?.folder.bytes)
        }
        #expect(asset.verified == 1_000_000)
        try await fixture.restart()
        #expect(fixture.library.asset(named: "cmaf")?.verified == 1_000_000)
    }

    @Test func damageIsReportedByTimeAndBecomesAHole() async throws {
        let fixture = try await TestHouse()
        let asset = try await stored(fixture, "ts", "video-90p")
        #expect(fixture.folder.files().contains { $0.hasSuffix("video-90p/media.m3u8") })
        try flip("video-90p/1.ts", fixture)
        #expect(truncate(try fixture.folder.find("video-90p/4.ts"), 188) == 0)
        try FileManager.default.removeItem(atPath: try fixture.folder.find("video-90p/5.ts"))
        fixture.retention.pin(.renditions(["video-90p": .all]), of: asset)
        let part = try #require(try await verify(fixture, asset).parts.first)
        #expect(
            part.mismatches == [
                .init(file: "1.ts", time: 2..<4, fault: .bytes, isRepaired: false),
                .init(file: "4.ts", time: 8..<10, fault: .length, isRepaired: false),
            ])
        #expect(part.holes == [.init(time: 10..<12, first: "5.ts", last: "5.ts", count: 1, isWanted: true)])
        #expect(part.stored == [0..<2, 4..<8])
        #expect(part.pieces == 3 && part.remaining == 3)
        // The damaged piece is no longer served, nor listed in the bundle's playlists.
        let folder = try #require(asset.rendition("video-90p")?.folder)
        #expect(folder.open("1.ts") == nil && !folder.contains("4.ts"))
        #expect(!fixture.folder.files().contains { $0.hasSuffix(".m3u8") || $0.hasPrefix("tmp/") })
        #expect(!asset.isPlayableOffline)
    }

    @Test("A folder that another program has deleted is a hole, whether it was open or not", arguments: [true, false])
    func deletedFolder(isOpen: Bool) async throws {
        let fixture = try await TestHouse()
        let asset = try await stored(fixture, "ts", "video-90p")
        fixture.retention.pin(.renditions(["video-90p": .all]), of: asset)
        let folder = try #require(asset.rendition("video-90p")?.folder)
        if isOpen {
            _ = try folder.directory(create: false)
        } else {
            asset.close()
        }
        let path = try fixture.folder.find("video-90p/0.ts")
        try FileManager.default.removeItem(atPath: String(path.dropLast("/0.ts".count)))
        let part = try #require(try await verify(fixture, asset).parts.first)
        #expect(part.stored == [] && part.holes.map(\.count) == [6])
        #expect(folder.sizes.isEmpty && !asset.isPlayableOffline)
    }

    @Test func aBundleOfAnEarlierProcessIsCorrected() async throws {
        let fixture = try await TestHouse()
        _ = try await stored(fixture, "ts", "video-90p")
        try FileManager.default.removeItem(atPath: try fixture.folder.find("video-90p/2.ts"))
        try await fixture.restart()
        #expect(fixture.folder.files().contains { $0.hasSuffix("master.m3u8") })
        _ = try await verify(fixture, try #require(fixture.library.asset(named: "ts")))
        #expect(!fixture.folder.files().contains { $0.hasSuffix(".m3u8") })
    }

    @Test func keysAndInitializationSectionsAreVerified() async throws {
        let fixture = try await TestHouse()
        let cmaf = try await stored(fixture, "cmaf", "video-90p")
        let aes = try await stored(fixture, "aes", "video-90p")
        try flip("video-90p/init-0.mp4", fixture)
        try flip("keys/0.key", fixture)
        let video = try #require(try await verify(fixture, cmaf).parts.first)
        #expect(video.mismatches == [.init(file: "init-0.mp4", time: nil, fault: .bytes, isRepaired: false)])
        #expect(video.holes.isEmpty)
        let keys = try #require(try await verify(fixture, aes).parts.last)
        #expect(keys.id == "keys" && keys.mismatches.map(\.file) == ["0.key"])
        #expect(!aes.isPlayableOffline)
    }

    /// In a debug build, which needs about eight times as long as a release build.
    @Test("The findings of 40,000 segments leave the loop to others")
    func findingsOfALongPlaylist() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/_vod/40000x1880/media.m3u8")
        let fetch = try fixture.fetch(7, of: asset.renditions[0], in: asset)
        try await fetch.end()
        fetch.release()
        let verification = try fixture.integrity.verification(of: asset, bytesPerSecond: 0)
        let longest = try await LoopStopwatch.longest {
            try await fixture.integrity.verify(verification, at: 1)
        }
        #expect(longest < 0.1)
        let part = try #require(verification.report.parts.first)
        #expect(part.stored == [14..<16] && part.holes.map(\.count) == [7, 39_992])
    }

    @Test func aRepairFetchesOnlyDamagedPieces() async throws {
        let fixture = try await TestHouse()
        let asset = try await stored(fixture, "ts", "video-90p")
        try flip("video-90p/1.ts", fixture)
        try flip("video-90p/3.ts", fixture)
        try FileManager.default.removeItem(atPath: try fixture.folder.find("video-90p/5.ts"))
        let verification = try fixture.integrity.verification(of: asset, bytesPerSecond: 0)
        try await fixture.integrity.verify(verification, at: 1)
        try await fixture.origin.clearRequests()
        try await fixture.integrity.fetchAgain(verification)
        #expect(try await fixture.origin.requests().map(\.path).sorted() == ["/ts/90p/1.ts", "/ts/90p/3.ts"])
        await verification.workOutReport()
        let report = verification.report
        #expect(report.parts.first?.mismatches.map(\.isRepaired) == [true, true])
        #expect(report.remaining == 0 && report.parts.first?.holes.map(\.isWanted) == [false])
        #expect(try await verify(fixture, asset).parts.first?.mismatches == [])
    }

    @Test func aPieceThatAPlayerBringsMeanwhileIsNotFetchedByARepair() async throws {
        let fixture = try await TestHouse()
        let ids = ["video-90p", "video-180p"]
        let asset = try await stored(fixture, "ts", ids[0], ids[1])
        for id in ids {
            for number in 0..<6 {
                try flip("\(id)/\(number).ts", fixture)
            }
        }
        let verification = try fixture.integrity.verification(of: asset, bytesPerSecond: 0)
        try await fixture.integrity.verify(verification, at: 1)
        try await fixture.origin.clearRequests()

        // The first six are those of one rendition.
        try await fixture.origin.add(OriginRule("*/0.ts") { $0.hold = true })
        let repair = Task { @LoopActor in try await fixture.integrity.fetchAgain(verification) }
        try await waitUntil("the first six") { try await fixture.origin.requests().count == 6 }
        let requests = try await fixture.origin.requests()
        let later = requests[0].path.contains("/90p/") ? ids[1] : ids[0]
        let played = try fixture.fetch(3, of: try #require(asset.rendition(later)), in: asset)
        try await played.end()
        played.release(.playback)

        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        try await repair.value
        await verification.workOutReport()
        #expect(verification.report.remaining == 0)
        let paths = try await fixture.mediaPaths()
        let all = try await fixture.origin.requests()
        #expect(paths.count == 12 && Set(paths).count == 12, "\(all)")
    }

    @Test func anAbsentOriginIsReportedAndRepairedPiecesStay() async throws {
        let fixture = try await TestHouse()
        let asset = try await stored(fixture, "ts", "video-90p")
        for number in 0..<6 {
            try flip("video-90p/\(number).ts", fixture)
        }
        let verification = try fixture.integrity.verification(of: asset, bytesPerSecond: 0)
        try await fixture.integrity.verify(verification, at: 1)
        try await fixture.origin.add(OriginRule("/ts/90p/5.ts") { $0.cutAfter = -1 })
        let error = await code { try await fixture.integrity.fetchAgain(verification) }
        #expect(error != nil)
        await verification.workOutReport()
        #expect(verification.report.remaining == 1)
        fixture.library.mode = .offline
        #expect(await code { try await fixture.integrity.fetchAgain(verification) } == .notStored)
    }

    /// One quality lost its only piece, another is wanted and has none, and the third has none and is not wanted.
    @Test func aQualityWithoutPiecesIsReportedIfItHadOneOrIsWanted() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        let damaged = try await fixture.rendition("video-90p", of: asset)
        for id in ["video-180p", "video-270p"] {
            _ = try await fixture.rendition(id, of: asset)
        }
        let fetch = try fixture.fetch(0, of: damaged, in: asset)
        try await fetch.end()
        fetch.release()
        await fixture.flush()
        try flip("video-90p/0.ts", fixture)
        fixture.retention.pin(.renditions(["video-180p": .all]), of: asset)
        let parts = try await verify(fixture, asset).parts
        #expect(Set(parts.map(\.id)) == ["video-90p", "video-180p"])
        let (lost, wanted) = (parts.first { $0.id == "video-90p" }, parts.first { $0.id == "video-180p" })
        #expect(lost?.mismatches.map(\.file) == ["0.ts"] && lost?.pieces == 0)
        #expect(wanted?.holes.map(\.count) == [6] && wanted?.remaining == 6)
    }

    @Test func anAssetHasOneVerificationAtATimeAndARepairReplacesIt() async throws {
        let fixture = try await TestHouse()
        let asset = try await stored(fixture, "ts", "video-90p")
        let plain = try fixture.integrity.start(asset, isRepair: false)
        #expect(try fixture.integrity.start(asset, isRepair: false) === plain)
        let repair = try fixture.integrity.start(asset, isRepair: true)
        #expect(repair !== plain && plain.state == .cancelled)
        #expect(try fixture.integrity.start(asset, isRepair: false) === repair)
        try await waitUntil("the end of the repair") { repair.state.isFinal }
        #expect(repair.state == .complete && asset.verified != nil)
    }

    @Test func aCancelledVerificationIsNotRecorded() async throws {
        let fixture = try await TestHouse()
        let asset = try await stored(fixture, "ts", "video-90p")
        let verification = try fixture.integrity.verification(of: asset, bytesPerSecond: 1)
        let work = Task { @LoopActor in try await fixture.integrity.verify(verification, at: 5) }
        try await waitUntil("the first bytes") { verification.pace.bytes > 0 }
        verification.pace.cancel()
        try await work.value
        #expect(!verification.isComplete && asset.verified == nil)
    }

    @Test func theLeastRecentlyVerifiedAssetComesFirst() async throws {
        let fixture = try await TestHouse()
        let first = try await stored(fixture, "ts", "video-90p")
        let second = try await stored(fixture, "cmaf", "video-90p")
        let now = first.created
        let later = first.created + 100
        let turn = { fixture.integrity.assetToVerify(before: $0, at: $1) { _ in false }?.name }
        #expect(turn(now, now) == nil)
        #expect(turn(later, later) != nil)
        second.record(verifiedAt: later - 1)
        first.record(verifiedAt: later - 2)
        #expect(turn(later, later) == "ts")
        first.record(verifiedAt: later)
        #expect(turn(later, later) == "cmaf")
        // The clock was wrong at the time of the verification.
        first.record(verifiedAt: later + 1000)
        #expect(turn(later, later) == "ts")
        #expect(fixture.integrity.assetToVerify(before: later, at: later) { $0 === first }?.name == "cmaf")
    }
}
