import Logging
import Testing

@testable import Daemon

@Suite struct StandardErrorLogTests {
    @Test func aLineHasTimeLevelLabelMessageAndMetadata() {
        let line = StandardErrorLog.line(
            time: "12:34:56", level: .warning, label: "origin", message: "no answer",
            metadata: ["host": "example.com", "asset": "sintel"])
        #expect(line == "12:34:56 warning origin: no answer asset=sintel host=example.com\n")
    }

    @Test func outsideTextCannotForgeALine() {
        let line = StandardErrorLog.line(
            time: nil, level: .info, label: "server", message: "GET /a\r\n12:34:56 error\u{1B}[2J\u{9B}", metadata: [:])
        #expect(line == "info server: GET /a\\u{D}\\u{A}12:34:56 error\\u{1B}[2J\\u{9B}\n")
    }
}
