import Orders
import Testing

@testable import WeirAPI

@Suite struct EventTextParserTests {
    private func messages(_ text: String, step: Int) -> [EventTextParser.Message] {
        var parser = EventTextParser()
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: step).flatMap {
            parser.parse(bytes[$0..<min($0 + step, bytes.count)])
        }
    }

    /// Parses the line forms of WHATWG HTML §9.2.6, with the bytes divided in every way.
    @Test(arguments: [1, 2, 3, 7, 1000])
    func writtenEventsAreReadForEveryDivision(step: Int) {
        let text =
            ":\n\nid: 1\nevent: a\ndata: é\n\n: comment\ndata:x\r\ndata\r\ndata:  y\r\revent:b\ndata: z\n\nevent: lost\n\ndata: cut"
        #expect(
            messages(text, step: step) == [
                .init(name: "a", data: "é"), .init(name: "message", data: "x\n\n y"), .init(name: "b", data: "z"),
            ])
    }

    @Test func anEventRoundTrips() throws {
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
        #expect(throws: APIError.self) { try API.Event(name: "state", data: Array("{}".utf8)) }
    }
}
