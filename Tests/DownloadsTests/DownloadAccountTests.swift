import Assets
import EventLoop
import HLS
import HTTPMessage
import Orders
import Origin
import Store
import TestRooms
import TestSupport
import Testing

@testable import Downloads

/// Mission A5: the account of a download.
@Suite struct DownloadAccountTests {
    private func traffic(_ counts: [(String, Int, Int64)], retries: Int = 0) throws -> DownloadBook.Traffic {
        var traffic = DownloadBook.Traffic()
        traffic.retries = retries
        for (url, requests, bytes) in counts {
            traffic.counts[try WebURL(url).origin] = .init(requests: requests, bytes: bytes)
        }
        return traffic
    }

    @Test func anAccountAddsUpItsRuns() throws {
        var book = DownloadBook()
        let start = ContinuousClock.now
        #expect(book.account == nil)
        book.start(try traffic([("http://a/", 5, 500)], retries: 2), at: 100, now: start)
        book.record(bytes: 30)
        book.stop(try traffic([("http://a/", 7, 530), ("https://b:8/", 1, 50)], retries: 3), now: start + .seconds(2))
        book.recordInterruption()
        #expect(book.account == nil && book.stored(.init(), now: start)?.seconds == 2)
        #expect(book.stored(.init(), now: start)?.ended == 0)
        book.start(try traffic([("http://a/", 9, 600)]), at: 110, now: start + .seconds(9))
        book.stop(try traffic([("http://a/", 10, 700)]), now: start + .seconds(10))
        book.end(at: 120)
        let account = try #require(book.account)
        #expect((account.began, account.ended, account.seconds) == (100, 120, 3))
        #expect((account.bytes, account.requests, account.retries, account.interruptions) == (30, 4, 1, 1))
        let origins = account.origins.map { "\($0.host) \($0.requests) \($0.bytes)" }
        #expect(origins == ["a 3 130", "b:8 1 50"])
        // An order for what is stored fetches nothing.
        book.start(try traffic([]), at: 200, now: start)
        book.stop(try traffic([]), now: start)
        book.end(at: 201)
        #expect(book.account == account)
    }

    /// A process that is killed has stored no end of its run.
    @Test func anAccountSurvivesTheEndOfTheProcess() throws {
        let start = ContinuousClock.now
        var book = DownloadBook()
        book.start(try traffic([("http://a/", 5, 500)]), at: 100, now: start)
        var saves = [book.mustSave(at: start + .seconds(60))]
        book.record(bytes: 30)
        saves += [4.0, 5.0].map { book.mustSave(at: start + .seconds($0)) }
        book.record(bytes: 12)
        saves += [9.0, 10.0].map { book.mustSave(at: start + .seconds($0)) }
        #expect(saves == [false, false, true, false, true], "nothing came before the first")
        let stored = try #require(book.stored(try traffic([("http://a/", 8, 600)]), now: start + .seconds(10)))
        #expect((stored.began, stored.ended, stored.seconds, stored.bytes, stored.requests) == (100, 0, 10, 42, 3))
        #expect(book.account == nil)

        // The counters of the next process begin at 0.
        var next = DownloadBook(stored: stored.stored)
        next.start(try traffic([]), at: 500, now: start)
        next.record(bytes: 58)
        next.stop(try traffic([("http://a/", 2, 60)]), now: start + .seconds(1))
        next.end(at: 501)
        let account = try #require(next.account)
        #expect((account.began, account.ended, account.seconds) == (100, 501, 11))
        #expect((account.bytes, account.requests) == (100, 5))
        #expect(account.origins.map { "\($0.host) \($0.requests) \($0.bytes)" } == ["a 5 160"])
    }

    /// An order for what is stored, in a process that ends before it has.
    @Test func anAccountWithoutContentReplacesNone() throws {
        var former = DownloadAccount(began: 7)
        former.bytes = 5
        former.ended = 9
        var book = DownloadBook(stored: former.stored)
        book.start(.init(), at: 20, now: .now)
        #expect(book.stored(.init(), now: .now) == former)
    }

    @Test @LoopActor func aDownloadThatIsStoppedWithTheDaemonKeepsItsAccount() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/cmaf/video-90p/5.m4s") { $0.hold = true })
        let download = try await fixture.start("/cmaf/master.m3u8")
        try await waitUntil("some pieces") { download.progress.bytes > 0 }
        await fixture.downloader.close()
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        try await fixture.restart()
        fixture.downloader.resume()
        try await fixture.reaches(.complete, "cmaf")
        let again = try fixture.download("cmaf")
        let account = try #require(again.account)
        #expect(account.bytes == Int64(again.progress.bytes))
        #expect(account.requests >= Set(try await fixture.mediaPaths()).count)
    }

    @Test func theAccountIsReadFromItsColumnAndFromATaskOfTheFirstVersion() throws {
        var task = DownloadTask()
        task.add(.init(Selection(), renditions: ["video-720p"]))
        task.note = #"a "note" with },"items":"#
        var account = DownloadAccount(began: 7)
        account.ended = 9
        account.origins = [.init(host: "h", requests: 1, bytes: 2)]

        var record = DownloadRecord(asset: "a", renditions: "video-720p", state: "complete", created: 1)
        record.task = task.stored
        var reader = TaskReader()
        #expect(try reader.read(record) == (task, nil))
        record.account = account.stored
        #expect(try reader.read(record) == (task, account.stored))
        #expect(DownloadBook(stored: account.stored).account == account)
        #expect(DownloadBook(stored: account.stored).stored(.init(), now: .now) == account)

        let text = task.stored.dropFirst()
        let json = account.stored
        record.task = "{\"account\":\(json)," + text.replacing("\"version\":2", with: "\"version\":1")
        record.account = nil
        for _ in 0..<2 {
            #expect(try reader.read(record) == (task, json))
        }
    }

    @Test @LoopActor func a5ADownloadTellsHowItWent() async throws {
        let fixture = try await TestHouse(.downloader())
        try await fixture.origin.add(OriginRule("/cmaf/video-90p/3.m4s") { ($0.times, $0.status) = (1, 503) })
        let download = try await fixture.start("/cmaf/master.m3u8")
        try await fixture.reaches(.complete, "cmaf")
        let account = try #require(download.account)
        #expect(account.bytes == Int64(download.progress.bytes) && account.seconds > 0)
        #expect(account.retries == 1 && account.interruptions == 0)
        let media = try await fixture.mediaRequests().count
        #expect(account.requests >= media && account.origins.count == 1)
        #expect(account.origins.first?.bytes ?? 0 >= account.bytes)
        #expect(account.began <= account.ended)
        try await fixture.notes(.complete)
        try await fixture.restart()
        #expect(try fixture.download("cmaf").account == account)
        #expect(try fixture.download("cmaf").task == download.task)
    }
}
