import Testing

@testable import Control

@Suite struct EventTextTests {
    private func messages(_ text: String, step: Int) -> [EventTextParser.Message] {
        var parser = EventTextParser()
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: step).flatMap {
            parser.take(bytes[$0..<min($0 + step, bytes.count)])
        }
    }

    @Test func aMessageHasItsIDItsNameAndItsDataOnOneLine() {
        let text = EventText.message(id: "a-1", name: "state", data: Array(#"{"x":1}"#.utf8))
        #expect(String(decoding: text, as: UTF8.self) == "id: a-1\nevent: state\ndata: {\"x\":1}\n\n")
        #expect(EventText.heartbeat == Array(":\n\n".utf8))
    }

    /// The forms of WHATWG HTML §9.2.6, however the bytes are cut.
    @Test(arguments: [1, 2, 3, 7, 1000])
    func whatIsWrittenIsReadHoweverItIsCut(step: Int) {
        let text =
            ":\n\nid: 1\nevent: a\ndata: é\n\n: comment\ndata:x\r\ndata\r\ndata:  y\r\revent:b\ndata: z\n\nevent: lost\n\ndata: cut"
        #expect(
            messages(text, step: step) == [
                .init(name: "a", data: "é"), .init(name: "message", data: "x\n\n y"), .init(name: "b", data: "z"),
            ])
    }

    @Test func anEventIsReadAsItWasWritten() throws {
        let download = API.Download(id: "d1", asset: "sintel")
        let reference = API.Event.Reference(id: "d1", asset: "sintel")
        for event: API.Event in [
            .snapshot([download]), .snapshot([]), .download(.state, download), .download(.progress, download),
            .download(.complete, download), .download(.error, download), .removed(reference),
            .renditionComplete(.init(id: "d1", asset: "sintel", rendition: "audio-en")), .changed(reference),
            .mode(API.Mode(.offline)),
        ] {
            #expect(try API.Event(name: event.name, data: event.data) == event)
        }
        #expect(try API.Event(name: "later", data: []) == nil)
        #expect(throws: ControlError.self) { try API.Event(name: "state", data: Array("{}".utf8)) }
    }
}

@Suite struct EventHistoryTests {
    @Test func whatCameAfterAMessageIsGivenAsLongAsItIsKept() {
        var history = EventHistory(limit: 100)
        #expect(history.messages(after: 0).map { Array($0) } == [])
        for number in 1...3 { history.append([UInt8(number)]) }
        #expect(history.messages(after: 1).map { Array($0) } == [[2], [3]])
        #expect(history.messages(after: 3).map { Array($0) } == [])
        #expect(history.messages(after: 4) == nil && history.messages(after: -1) == nil)
        history.skip()
        #expect(history.messages(after: 3) == nil)
        #expect(history.messages(after: 4).map { Array($0) } == [])
        #expect(history.next == 5)
    }

    @Test func itIsBounded() {
        var history = EventHistory(limit: 100)
        for _ in 0..<50 { history.append([UInt8](repeating: 1, count: 10)) }
        let kept = (0...50).filter { history.messages(after: $0) != nil }
        #expect((40...45).contains(kept.first ?? 0) && kept.last == 50)
        history.append([UInt8](repeating: 1, count: 1000))
        #expect(history.messages(after: 50) == nil && history.messages(after: 51)?.isEmpty ?? false)
    }
}
