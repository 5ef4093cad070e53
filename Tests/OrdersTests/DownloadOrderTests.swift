import Foundation
import Testing

@testable import Orders

@Suite struct DownloadOrderTests {
    /// An order of which no key is absent.
    private static let whole: DownloadOrder = {
        var order = DownloadOrder(Selection(quality: .worst), Selection(quality: .best), range: MediaRange("60-120"))
        order.note = "for the train"
        order.priority = .important
        order.record = false
        order.recordSeconds = 60
        order.recordFrom = .ago(30)
        order.ignoreSpace = true
        order.paused = true
        order.rules = .ignoringAll
        return order
    }()

    private static func json(_ order: DownloadOrder) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(order))
        return try #require(object as? [String: Any])
    }

    @Test func eachKeyIsWrittenAndReadBack() throws {
        let copy = try JSONDecoder().decode(DownloadOrder.self, from: JSONEncoder().encode(Self.whole))
        #expect(copy == Self.whole)
    }

    @Test func theSelectionsKeysAreBesideTheOthers() throws {
        let keys = try Self.json(Self.whole).keys.sorted()
        let others = [
            "additional", "ignoreSpace", "note", "paused", "priority", "quality", "range", "record", "recordFrom",
            "recordSeconds", "rules",
        ]
        #expect(keys == others)
    }

    @Test func anAbsentKeyIsNotWritten() throws {
        #expect(try Self.json(DownloadOrder()).isEmpty)
    }

    @Test func anOrderTakesOverEachKeyThatTheOtherHas() {
        var order = DownloadOrder()
        order.adopt(Self.whole)
        #expect(order == Self.whole)
        order.adopt(DownloadOrder())
        #expect(order == Self.whole)
    }
}
