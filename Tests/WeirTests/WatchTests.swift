import AccessLog
import Foundation
import Glibc
import Orders
import TestSupport
import Testing
import WeirAPI

@testable import weir

@Suite struct WatchTests {
    private var state: WatchedState {
        var store = API.Store(path: "/s", playCache: .init(bytes: 0, limit: nil), purge: "expired")
        store.assets = 2
        store.bytes = 3 << 20
        store.disk = .init(totalBytes: 9 << 30, freeBytes: 4 << 30, reservedBytes: 0)
        var session = SessionSummary(id: "a", guid: "G", asset: "sintel", client: "VLC/3.0.18 LibVLC/3.0.18", began: 0)
        session.playhead = 61
        session.watched = 59
        session.stalls = 1
        session.isStalled = true
        session.bytes.store = 3
        session.bytes.origin = 1
        session.quality = "720p"
        let waiting = API.Download(id: "d2", asset: "other").with {
            $0.state = .waiting
            $0.need = .network
            $0.error = .init(code: .originAbsent, message: "h cannot be reached")
        }
        return WatchedState(mode: .auto, store: store, sessions: [session], downloads: [sampleDownload, waiting])
    }

    @Test func theScreenShowsWhatPlaysAndWhatDownloads() {
        #expect(
            WatchText.lines(state, base: "http://127.0.0.1:8216") == [
                "weir at http://127.0.0.1:8216  mode auto  2 assets, 3.0 MB  5.1 MB/s", "",
                "PLAYS   CLIENT      QUALITY  AT    WATCHED  STALLS  STORED",
                "sintel  VLC/3.0.18  720p     1:01  0:59     1       75%     stalled",
                "", "DOWNLOADS  DONE  SIZE                    RATE",
                "sintel     63%   151 MB of about 240 MB  5.1 MB/s  0:17 left",
                "other      –     0 B                     –         waiting for the network: h cannot be reached",
            ])
        #expect(
            WatchText.lines(state, base: "http://127.0.0.1:8216", columns: 40) == [
                "mode auto  2 assets, 3.0 MB  5.1 MB/s", "", "PLAYS   QUALITY  AT    STORED",
                "sintel  720p     1:01  75%     stalled",
                "", "DOWNLOADS  DONE  RATE", "sintel     63%   5.1 MB/s  0:17 left",
                "other      –     –         waiting for the network: h cannot be reached",
            ])
        #expect(
            WatchText.lines(state, base: "b", columns: 80)[2]
                == "PLAYS   CLIENT      QUALITY  AT    WATCHED  STALLS  STORED")
        var empty = state
        empty.sessions = []
        empty.downloads = []
        #expect(WatchText.lines(empty, base: "b").suffix(3) == ["nothing plays", "", "nothing downloads"])
    }

    @Test func theScreenFitsTheTerminalAndHasNoControlCharactersOfOthers() {
        let lines = (0..<9).map { "line \($0) \u{1B}[2J" + String(repeating: "x", count: 99) }
        let screen = WatchScreen.screen(lines, columns: 40, rows: 6)
        #expect(screen.hasPrefix("\u{1B}[Hline 0 \\u{1B}[2Jxxx") && screen.hasSuffix("…\u{1B}[K\u{1B}[J"))
        let rows = screen.components(separatedBy: "\r\n")
        #expect(rows.count == 5 && rows.dropFirst().allSatisfy { $0.count <= 39 + 3 })
        #expect(!WatchScreen.screen(["a", "b"], columns: 40, rows: 24).contains("…"))
    }

    @Test func withoutATerminalLinesAreWrittenWhenTheyChange() async throws {
        let weir = try await WeirProcess()
        let watch = try weir.begin(["watch", "--interval", "0.2"])
        _ = try await watch.line(startingWith: "nothing downloads")
        let mode = try await weir.run(["mode", "offline"])
        #expect(mode.exit == .code(0))
        let head = "weir at \(await weir.address)  mode "
        try await waitUntil("another block") { watch.standardOutput.contains(head + "offline  ") }
        #expect(
            watch.standardOutput.components(separatedBy: head).count == 3 && !watch.standardOutput.contains("\u{1B}"))
        watch.send(SIGINT)
        #expect(try await watch.end() == .code(130))
        let program = "\(Repository.builtProgram("weir")) watch --state \(weir.state)"
        let terminal = try ChildProcess("script", ["-qec", program, "/dev/null"], environment: ["TERM": "xterm"])
        try await waitUntil("the screen") { terminal.standardOutput.contains("nothing downloads") }
        #expect(terminal.standardOutput.hasPrefix("\u{1B}[?1049h\u{1B}[?25l\u{1B}[Hweir at "))
        let other = try ChildProcess("script", ["-qec", program, "/dev/null"], environment: ["TERM": "xterm"])
        try await waitUntil("the screen") { other.standardOutput.contains("nothing downloads") }
        other.write("xq")
        #expect(try await other.end() == .code(0))
        // No key is echoed onto the screen.
        #expect(other.standardOutput.hasSuffix("\u{1B}[?25h\u{1B}[?1049l") && !other.standardOutput.contains("xq"))
        try await weir.terminate()
        _ = try await terminal.end()
        #expect(terminal.standardOutput.contains("\u{1B}[?25h\u{1B}[?1049l"))
    }
}
