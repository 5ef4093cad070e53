import EventLoop
import Foundation
import HLS
import HTTPMessage
import Origin
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

@Suite @LoopActor struct FetchTests {
    /// A presentation with one rendition, loaded.
    private func start(
        _ path: String = "/ts/master.m3u8", _ id: String = "video-90p", reserve: Int64 = 0
    ) async throws -> (TestHouse, Asset, Rendition) {
        let fixture = try await TestHouse(.reserve(reserve))
        let asset = try await fixture.open(path)
        return (fixture, asset, try await fixture.rendition(id, of: asset))
    }

    @Test func oneRequestServesAllReadersAndStoresAPiece() async throws {
        let (fixture, asset, rendition) = try await start()
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 1000 })
        let fetches = try (0..<20).map { _ in try fixture.fetch(0, of: rendition, in: asset) }
        try await fetches[0].announced()
        #expect(fetches[0].written >= 1000 && !fetches[0].isComplete)
        let late = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        #expect(fetches.allSatisfy { $0 === late })
        try await fixture.origin.release()
        try await late.end()

        let bytes = Array(try Repository.fixture("/ts/90p/0.ts"))
        #expect(late.bytes == bytes)
        #expect(late.isPiece)
        #expect(late.length == Int64(bytes.count))
        #expect(rendition.folder.sizes == ["0.ts": Int64(bytes.count)])
        #expect(try await fixture.mediaRequests() == ["/ts/90p/0.ts"])
        for fetch in fetches + [late] {
            fetch.release()
        }
    }

    @Test func anUnusedFinishedFetchClosesItsDescriptor() async throws {
        let (fixture, asset, rendition) = try await start()
        weak var gone: Fetch?
        weak var file: GrowingFile?
        do {
            let fetch = try fixture.fetch(0, of: rendition, in: asset)
            gone = fetch
            file = fetch.file
            try await fetch.end()
            fetch.release()
        }
        try await waitUntil("its end") { @LoopActor in gone == nil && file == nil }
    }

    @Test func aByteRangeIsStoredAsAFile() async throws {
        let (fixture, asset, rendition) = try await start("/byterange-ts/master.m3u8")
        let fetch = try fixture.fetch(1, of: rendition, in: asset)
        try await fetch.end()
        let range = try #require(fetch.resource.range)
        let file = try Repository.fixture("/byterange-ts/90p/all.ts")
        #expect(fetch.bytes == Array(file[Int(range.lowerBound)..<Int(range.upperBound)]))
        #expect(rendition.folder.contains("1.ts"))
    }

    @Test func aChunkedBodyIsCompleteAtItsLastChunk() async throws {
        let (fixture, asset, rendition) = try await start()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.chunked, $0.pauseAfter) = (true, 1000) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.announced()
        #expect(fetch.length == nil)
        try await fixture.origin.release()
        try await fetch.end()
        #expect(fetch.length == fetch.written)
        #expect(fetch.isPiece)
    }

    @Test func aCutBodyWithoutALengthIsNotStored() async throws {
        let (fixture, asset, rendition) = try await start()
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.chunked, $0.cutAfter, $0.times) = (true, 1000, 1) },
            OriginRule("*.ts") { $0.resetAfter = -1 })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        #expect(await fetch.result().code != nil)
        fetch.release()
        #expect(rendition.folder.sizes.isEmpty)

        try await fixture.origin.clearRules()
        let again = try fixture.fetch(0, of: rendition, in: asset)
        try await again.end()
        #expect(again.bytes == Array(try Repository.fixture("/ts/90p/0.ts")))
    }

    // MARK: Odd bodies

    /// Nobody speaks in it, or the head is in EXT-X-MAP. Sound and picture are never empty.
    @Test func anEmptySegmentOfSubtitlesIsStoredIfItIsEmptyTwice() async throws {
        let (fixture, asset, rendition) = try await start("/cmaf/master.m3u8", "subtitles-en")
        try await fixture.origin.add(OriginRule("*/2.vtt") { ($0.status, $0.body) = (200, "") })
        let fetch = try fixture.fetch(2, of: rendition, in: asset)
        try await fetch.end()
        #expect(fetch.isPiece)
        #expect(rendition.folder.sizes == ["2.vtt": 0])
        let requests = try await fixture.mediaRequests().filter { $0.hasSuffix("/2.vtt") }
        #expect(requests.count == 2)
    }

    @Test func anEmptyLastSegmentIsStoredIfItIsEmptyTwice() async throws {
        let (fixture, asset, rendition) = try await start()
        let last = try #require(rendition.source?.playlist.segments.count) - 1
        try await fixture.origin.add(OriginRule("*.ts") { $0.truncate = 0 })
        for (number, isPiece) in [(last, true), (0, false)] {
            let fetch = try fixture.fetch(number, of: rendition, in: asset, urgency: .background)
            #expect(await fetch.result().code == (isPiece ? nil : .badOrigin))
            #expect(fetch.isPiece == isPiece)
            fetch.release()
        }
        #expect(rendition.folder.sizes == ["\(last).ts": 0])
        #expect(try await fixture.mediaRequests() == ["/ts/90p/\(last).ts", "/ts/90p/\(last).ts", "/ts/90p/0.ts"])
    }

    @Test func aSegmentMayBeLargerThan512Megabytes() async throws {
        let (fixture, asset, rendition) = try await start("/_vod/1x540000000/media.m3u8", "media")
        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        try await fetch.end()
        #expect(rendition.folder.sizes["0.ts"] == 540_000_000)
    }

    @Test(arguments: [401, 403, 410])
    func aRefusalNowAndThenLeavesNoHole(status: Int) async throws {
        let (fixture, asset, rendition) = try await start()
        for nth in [3, 5] {
            try await fixture.origin.add(OriginRule("*.ts") { ($0.nth, $0.status) = (nth, status) })
        }
        for number in 0..<4 {
            let fetch = try fixture.fetch(number, of: rendition, in: asset)
            try await fetch.end()
            fetch.release()
        }
        #expect(rendition.folder.sizes.count == 4)
        #expect(try await fixture.mediaRequests().count > 4)
    }

    @Test func boxesProveABodyWholeThatIsShorterThanStated() async throws {
        let (fixture, asset, rendition) = try await start("/cmaf/master.m3u8")
        try await fixture.origin.add(
            OriginRule("*.m4s") { ($0.contentLength, $0.noRanges, $0.noValidators) = (900_000, true, true) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        let file = Array(try Repository.fixture("/cmaf/video-90p/0.m4s"))
        #expect(fetch.isPiece && fetch.bytes == file)
        #expect(try await fixture.mediaRequests() == ["/cmaf/video-90p/0.m4s"])
    }

    // MARK: Without a reader

    @Test func aFetchThatCannotBeContinuedIsCompletedIfMostHasArrived() async throws {
        let (fixture, asset, rendition) = try await start("/_vod/2x40000000/media.m3u8", "media")
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.noRanges) = (30_000_000, true) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await waitUntil("most bytes") { fetch.written >= 30_000_000 }
        fetch.release(.playback)
        try await fixture.origin.release()
        try await fetch.end()
        #expect(rendition.folder.contains("0.ts"))
    }

    @Test func theRestOfAnAbandonedFetchIsGivenASecond() async throws {
        let (fixture, asset, rendition) = try await start("/_vod/2x100000/media.m3u8", "media")
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (90_000, 1) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await waitUntil("most bytes") { fetch.written >= 90_000 }
        fetch.release(.playback)
        #expect(fetch.outcome == nil)
        // The origin sends no more.
        #expect(await fetch.result().code == .cancelled)
        let again = try fixture.fetch(0, of: rendition, in: asset)
        try await again.end()
        #expect(try await fixture.origin.requests(for: "/_vod/2x100000/0.ts").map(\.range) == [nil, "bytes=90000-"])
        again.release(.playback)
    }

    @Test func aReaderThatComesWithinThatSecondKeepsTheTransfer() async throws {
        let (fixture, asset, rendition) = try await start("/_vod/2x100000/media.m3u8", "media")
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 90_000 })
        let fetches = try (0..<2).map { try fixture.fetch($0, of: rendition, in: asset) }
        for fetch in fetches {
            try await waitUntil("most bytes") { fetch.written >= 90_000 }
            fetch.release(.playback)
        }
        #expect(try fixture.fetch(0, of: rendition, in: asset) === fetches[0])
        // The second of the other one ends later.
        #expect(await fetches[1].result().code == .cancelled)
        #expect(fetches[0].outcome == nil)
        try await fixture.origin.release()
        try await fetches[0].end()
        #expect(try await fixture.mediaRequests().count == 2)
    }

    @Test func anEarlyAbandonedFetchIsParkedAndResumed() async throws {
        let (fixture, asset, rendition) = try await start("/_vod/2x40000000/media.m3u8", "media")
        try await fixture.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (1_000_000, 1) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await waitUntil("a million bytes") { fetch.written >= 1_000_000 }
        fetch.release()
        #expect(await fetch.result().code == .cancelled)
        try await waitUntil("the client gone") {
            try await fixture.origin.requests(for: "/_vod/2x40000000/0.ts").first?.state == "gone"
        }
        #expect(rendition.folder.sizes.isEmpty)

        let again = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        #expect(again.written >= 1_000_000)
        try await again.end()
        #expect(rendition.folder.sizes["0.ts"] == 40_000_000)
        let ranges = try await fixture.origin.requests(for: "/_vod/2x40000000/0.ts").map(\.range)
        #expect(ranges.count == 2 && ranges[1]?.hasPrefix("bytes=10") == true, "\(ranges)")
    }

    @Test func aParkedBeginningOfOtherContentIsDropped() async throws {
        let (fixture, asset, rendition) = try await start()
        try await fixture.origin.add(
            OriginRule("/ts/90p/0.ts") { ($0.cutAfter, $0.times) = (5000, 1) },
            OriginRule("/ts/90p/0.ts") { $0.resetAfter = -1 })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        #expect(await fetch.result().code != nil)
        #expect(fetch.written == 5000)
        fetch.release()

        // Another body of the same length with another entity tag.
        try await fixture.origin.clearRules()
        let changed = OriginRule.media(String(repeating: "other bytes ", count: 4000))
        try await fixture.origin.add(OriginRule("/ts/90p/0.ts") { ($0.status, $0.body) = (200, changed) })
        let second = try fixture.fetch(0, of: rendition, in: asset)
        #expect(await second.result().code == .badOrigin)
        second.release()
        let third = try fixture.fetch(0, of: rendition, in: asset)
        try await third.end()
        #expect(third.bytes == Array(changed.utf8))
        third.release()
    }

    @Test func parkedFetchesAreLimited() async throws {
        let (fixture, asset, rendition) = try await start("/_vod/60x1000/media.m3u8", "media")
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 500 })
        for batch in 0..<8 {
            let fetches = try (0..<5).map { try fixture.fetch(5 * batch + $0, of: rendition, in: asset) }
            for fetch in fetches {
                try await fetch.announced()
            }
            fixture.client.isOffline = true
            fixture.client.isOffline = false
            for fetch in fetches {
                fetch.release()
            }
        }
        #expect(fixture.folder.files().count { $0.hasPrefix("tmp/") } == 32)
    }

    // MARK: Wrong responses

    @Test func anHTMLPageIsNotStoredAndIsReported() async throws {
        let (fixture, asset, rendition) = try await start()
        try await fixture.origin.add(OriginRule("*.ts") { $0.html = true })
        do {
            let fetch = try fixture.fetch(0, of: rendition, in: asset)
            let result = await fetch.result()
            fetch.release()
            #expect(result.code == .badOrigin)
            #expect("\(result)".contains("HTML"))
        }
        #expect(rendition.folder.sizes.isEmpty)
        #expect(!fixture.folder.files().contains { $0.hasPrefix("tmp/") })
    }

    @Test func aSlowHTMLPageIsReportedAtItsEnd() async throws {
        let (fixture, asset, rendition) = try await start()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.html, $0.pauseAfter) = (true, 2) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.announced()
        try await fixture.origin.release()
        #expect(await fetch.result().code == .badOrigin)
        fetch.release()
        #expect(rendition.folder.sizes.isEmpty)
    }

    /// The first bytes may be ciphertext; that they are text is clear once there are more of them.
    @Test func aSlowTextInPlaceOfCiphertextIsReportedAtItsEnd() async throws {
        let (fixture, asset, rendition) = try await start("/aes/master.m3u8")
        let text = String(repeating: "Come back later. ", count: 100)
        try await fixture.origin.add(OriginRule("*.ts") { ($0.status, $0.body, $0.pauseAfter) = (200, text, 100) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.announced()
        try await fixture.origin.release()
        let result = await fetch.result()
        #expect(result.code == .badOrigin && "\(result)".contains("text instead of media"))
        fetch.release()
        #expect(rendition.folder.sizes.isEmpty)
    }

    @Test func plainTextIsNotStoredAndIsReported() async throws {
        let (fixture, asset, rendition) = try await start()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.status, $0.body) = (200, "Gone") })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        let result = await fetch.result()
        #expect(result.code == .badOrigin && "\(result)".contains("text instead of media"))
        fetch.release()
        #expect(rendition.folder.sizes.isEmpty)
    }

    /// A player may know what Weir does not: it gets every byte. A download reports the segment.
    @Test(arguments: ["00", "89504e470d0a1a0a0000000d49484452", "1f8b0800"])
    func whatIsNoKnownMediaIsPassedOnAndNotStored(_ beginning: String) async throws {
        let (fixture, asset, rendition) = try await start()
        let body = beginning + String(repeating: "00", count: 3000)
        try await fixture.origin.add(OriginRule("*/0.ts") { ($0.status, $0.bodyHex) = (200, body) })
        for _ in 0..<2 {
            let fetch = try fixture.fetch(0, of: rendition, in: asset)
            try await fetch.end()
            #expect(fetch.bytes.count == body.count / 2 && !fetch.isPiece)
            #expect("\(try #require(fetch.contentError))".contains("no media that Weir recognizes"))
            fetch.release()
        }
        let download = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        #expect(await download.result().code == .badOrigin)
        download.release()
        #expect(rendition.folder.sizes.isEmpty)
        #expect(try await fixture.mediaRequests().count == 3)

        try await fixture.origin.clearRules()
        let again = try fixture.fetch(0, of: rendition, in: asset)
        try await again.end()
        #expect(again.isPiece)
    }

    @Test(arguments: [15, 17, 0])
    func aKeyOfAWrongLengthIsRefused(_ length: Int) async throws {
        let (fixture, asset, rendition) = try await start("/aes/master.m3u8")
        let body = String(repeating: "k", count: length)
        try await fixture.origin.add(OriginRule("*.key") { ($0.status, $0.body) = (200, body) })
        let (folder, key) = try #require(rendition.preliminaries.first)
        let fetch = try fixture.library.fetch(key, in: folder, of: asset, urgency: .playback)
        #expect(await fetch.result().code == .badOrigin)
        fetch.release()
        #expect(folder.sizes.isEmpty)

        try await fixture.origin.clearRules()
        let again = try fixture.library.fetch(key, in: folder, of: asset, urgency: .playback)
        try await again.end()
        #expect(folder.sizes == ["0.key": 16])
    }

    @Test(arguments: [16, 32], ["\n", "\r\n"])
    func aKeyMayHaveALineEnd(_ count: Int, _ end: String) async throws {
        let (fixture, asset, rendition) = try await start("/aes/master.m3u8")
        let body = String(repeating: "k", count: count) + end
        try await fixture.origin.add(OriginRule("*.key") { ($0.status, $0.body) = (200, body) })
        let (folder, key) = try #require(rendition.preliminaries.first)
        let fetch = try fixture.library.fetch(key, in: folder, of: asset, urgency: .playback)
        try await fetch.end()
        #expect(fetch.bytes == Array(body.utf8) && fetch.isPiece)
        fetch.release()
    }

    @Test func aKeyThatLooksLikeHTMLIsAccepted() async throws {
        let (fixture, asset, rendition) = try await start("/aes/master.m3u8")
        try await fixture.origin.add(OriginRule("*.key") { ($0.status, $0.body) = (200, "<html>0123456789") })
        let (folder, key) = try #require(rendition.preliminaries.first)
        let fetch = try fixture.library.fetch(key, in: folder, of: asset, urgency: .playback)
        try await fetch.end()
        #expect(folder.sizes == ["0.key": 16])
    }

    @Test func anEmptyBodyIsNotStored() async throws {
        let (fixture, asset, rendition) = try await start()
        try await fixture.origin.add(OriginRule("*.ts") { ($0.status, $0.body) = (200, "") })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        #expect(await fetch.result().code == .badOrigin)
        #expect(rendition.folder.sizes.isEmpty)
    }

    @Test func theWholeFileInsteadOfARangeIsNotStored() async throws {
        let (fixture, asset, rendition) = try await start("/byterange-ts/master.m3u8")
        try await fixture.origin.add(OriginRule("*.ts") { $0.ignoreRange = true })
        let fetch = try fixture.fetch(1, of: rendition, in: asset)
        #expect(await fetch.result().code == .badOrigin)
        #expect(rendition.folder.sizes.isEmpty)
    }

    @Test(arguments: [
        (404, FetchError.Code.missing), (403, .originRefused), (410, .originRefused), (500, .badOrigin),
    ])
    func aRefusalKeepsTheOriginsStatus(_ status: Int, _ expected: FetchError.Code) async throws {
        let (fixture, asset, rendition) = try await start()
        try await fixture.origin.add(OriginRule("*.ts") { $0.status = status })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        #expect(await fetch.result().code == expected)
    }

    // MARK: Not stored

    @Test func aFullDiskPassesTheBodyThroughAndReportsWhy() async throws {
        let (fixture, asset, rendition) = try await start(reserve: .max)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        #expect(fetch.bytes == Array(try Repository.fixture("/ts/90p/0.ts")))
        #expect(fetch.keepFailure?.code == .diskFull)
        #expect(!fetch.isPiece)
        fetch.release()
        #expect(!fixture.folder.files().contains { $0.hasPrefix("assets/") || $0.hasPrefix("tmp/") })

        // A player that asks again at once gets the same bytes; a download fetches again.
        #expect(try fixture.fetch(0, of: rendition, in: asset) === fetch)
        #expect(try fixture.fetch(0, of: rendition, in: asset, urgency: .background) !== fetch)
    }

    @Test func anUnwritableStorePassesThrough() async throws {
        let (fixture, _, _) = try await start()
        try FileManager.default.removeItem(atPath: fixture.folder.path("tmp"))
        try fixture.folder.write(Data("in the way".utf8), to: "tmp")
        try await fixture.restart()
        let known = try #require(fixture.library.asset(named: "ts"))
        let new = try await fixture.open("/aes/master.m3u8")
        for asset in [known, new] {
            let rendition = try await fixture.rendition("video-90p", of: asset)
            let fetch = try fixture.fetch(0, of: rendition, in: asset)
            try await fetch.end()
            #expect(fetch.keepFailure != nil)
            #expect(!fetch.isPiece)
        }
    }

    @Test func liveSegmentsStayInMemoryForAShortTime() async throws {
        let (fixture, asset, rendition) = try await start("/_live/a/media.m3u8", "media")
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        fetch.release()
        #expect(fetch.keepFailure == nil && !fetch.isPiece)
        #expect(try fixture.fetch(0, of: rendition, in: asset) === fetch)
        #expect(try await fixture.mediaRequests().count == 1)
        #expect(!fixture.folder.files().contains { $0.hasPrefix("assets/") || $0.hasPrefix("tmp/") })
    }
}
