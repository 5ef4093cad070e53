import AccessLog
import ArgumentParser
import Control
import Foundation
import Playback
import Testing
import WeirAPI

@testable import weir

@Suite struct LogTextTests {
    private var event: AccessEvent {
        var event = AccessEvent(
            session: "aabcde", guid: "G", number: 0, asset: "sintel", client: "VLC/3.0.18 LibVLC/3.0.18", began: 0)
        event.watched = 558
        event.startup = 0.84
        event.stalls = 2
        event.stallTime = 62
        event.indicated = 2_149_280
        event.bytes.store = 3 << 20
        return event
    }

    @Test func eachFormatIsWritten() throws {
        #expect(LogText<AccessEvent>(.w3c).line(event) == event.line(.w3c))
        #expect(LogText<AccessEvent>(.apple).line(event).hasPrefix("1970/01/01 00:00:00.000 "))
        let json = LogText<AccessEvent>(.json).line(event)
        #expect(json.hasPrefix(#"{"v":1,"t":"access","asset":"sintel","began":0,"#))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(object["watched"] as? Double == 558 && object["ended"] == nil)
        #expect((object["inferred"] as? [String])?.contains("watched") == true)
    }

    @Test func theTableHasEachSessionAndTheTotal() {
        let lines = KPIText.table(API.KPIReport([event])).lines
        #expect(lines.count == 3)
        #expect(lines[0].hasPrefix("ASSET   CLIENT      WATCHED  START  STALLS  STALLED  DROPPED  INDICATED"))
        #expect(lines[1].hasPrefix("sintel  VLC/3.0.18  9:18     0.8 s  2       10%      –        2.1 Mb/s   –"))
        #expect(lines[1].hasSuffix("100%    3.0 MB"))
        #expect(lines[2].hasPrefix("all     1 session   9:18     0.8 s  2       10%"))
        #expect(KPIText.table(API.KPIReport([])).lines[1].hasPrefix("all    0 sessions  0:00     –      0       –"))
    }

    @Test func eightyColumnsAreEnoughWhateverTheNamesAndNumbers() {
        var event = event
        event.asset = String(repeating: "long-name-", count: 9)
        event.watched = 359_999
        event.startup = 1234
        event.stalls = 123_456
        event.indicated = 999_499_999
        event.client = String(repeating: "client", count: 9)
        event.bytes.origin = 999 << 30
        var error = ErrorEvent(
            time: 0, uri: nil, status: 502, domain: .origin, comment: String(repeating: "word ", count: 40))
        error.asset = event.asset
        let lines =
            [LogTable.line(event), LogTable.line(error), LogTable.heading(of: AccessEvent.self)]
            + [LogTable.heading(of: ErrorEvent.self)] + KPIText.narrow(API.KPIReport([event])).lines
        for line in lines {
            #expect(line.count <= 80 && !line.hasSuffix(" "), "\(line)")
        }
        #expect(lines[0].hasSuffix("  long-name-long-…  99:59:…  1234…  123456  999 Mb/s  –         0%"))
        #expect(lines[1].hasSuffix("  502     word word word word word word word word …"))
        #expect(lines[2] == "TIME         ASSET             WATCHED  START  STALLS  RATE      OBSERVED  STORE")
    }

    @Test(arguments: [
        ["--errors", "--kpi"], ["--wide", "--format", "table"], ["--kpi", "--follow"], ["--kpi", "--format", "apple"],
        ["--limit", "0"],
        ["--format", "xml"],
    ])
    func contradictoryLogOptionsAreRefused(arguments: [String]) async throws {
        await #expect(throws: (any Error).self) { try await LogCommand.asyncParse(arguments) }
    }
}
