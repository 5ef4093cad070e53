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
        #expect(book.account == nil && book.stored?.seconds == 2 && book.stored?.ended == 0)
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
        #expect(DownloadBook(stored: account.stored).stored == account)

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
