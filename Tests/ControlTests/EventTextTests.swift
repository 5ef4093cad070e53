import Testing
import WeirAPI

@testable import Control

@Suite struct EventTextTests {
    @Test func aMessageHasIDNameAndDataOnOneLineEach() {
        let text = EventText.message(id: "a-1", name: "state", data: Array(#"{"x":1}"#.utf8))
        #expect(String(decoding: text, as: UTF8.self) == "id: a-1\nevent: state\ndata: {\"x\":1}\n\n")
        #expect(EventText.heartbeat == Array(":\n\n".utf8))
    }
}

@Suite struct EventHistoryTests {
    @Test func laterMessagesAreReturnedWhileKept() {
        var history = EventHistory(limit: 100)
        #expect(history.messages(after: 0).map { Array($0) } == [])
        for number in 1...3 {
            history.append([UInt8(number)])
        }
        #expect(history.messages(after: 1).map { Array($0) } == [[2], [3]])
        #expect(history.messages(after: 3).map { Array($0) } == [])
        #expect(history.messages(after: 4) == nil && history.messages(after: -1) == nil)
        history.skip()
        #expect(history.messages(after: 3) == nil)
        #expect(history.messages(after: 4).map { Array($0) } == [])
        #expect(history.next == 5)
    }

    @Test func theHistoryIsLimited() {
        var history = EventHistory(limit: 100)
        for _ in 0..<50 {
            history.append([UInt8](repeating: 1, count: 10))
        }
        let kept = (0...50).filter { history.messages(after: $0) != nil }
        #expect((40...45).contains(kept.first ?? 0) && kept.last == 50)
        history.append([UInt8](repeating: 1, count: 1000))
        #expect(history.messages(after: 50) == nil && history.messages(after: 51)?.isEmpty ?? false)
    }
}
