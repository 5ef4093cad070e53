import Foundation
import Testing

@testable import Orders

@Suite struct RecordingStartTests {
    private static let beginnings: [(text: String, start: RecordingStart, seconds: Double?)] = [
        ("now", .now, 60), ("start", .start, nil), ("10m-ago", .ago(600), 600), ("90s-ago", .ago(90), 90),
        ("2h-ago", .ago(7_200), 7_200), ("24h-ago", .ago(86_400), 86_400),
    ]

    @Test(arguments: beginnings)
    func aBeginningIsReadAndWritten(_ text: String, _ start: RecordingStart, _ seconds: Double?) throws {
        #expect(RecordingStart(text) == start && start.description == text && start.seconds == seconds)
        let order = DownloadOrder.recording(from: start)
        let copy = try JSONDecoder().decode(DownloadOrder.self, from: JSONEncoder().encode(order))
        #expect(copy.recordFrom == start && copy.contradiction == nil)
    }

    @Test(arguments: [
        "", "10m", "-ago", "m-ago", "0m-ago", "25h-ago", "1d-ago", "-1m-ago", "ten-ago", "9999999s-ago", "Start",
    ])
    func anyOtherTextIsNone(_ text: String) {
        #expect(RecordingStart(text) == nil)
    }

    @Test func aBeginningIsARecordingsAndBeforeItsEnd() {
        var order = DownloadOrder.recording(from: .ago(600))
        order.recordSeconds = 600
        #expect(order.contradiction?.contains("end before now") == true)
        order.recordSeconds = 601
        #expect(order.contradiction == nil)
        order.record = nil
        order.recordSeconds = nil
        #expect(order.contradiction?.contains("only a recording") == true)
    }
}

extension DownloadOrder {
    fileprivate static func recording(from start: RecordingStart) -> Self {
        var order = DownloadOrder()
        order.record = true
        order.recordFrom = start
        return order
    }
}
