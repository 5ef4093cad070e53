import Foundation
import Glibc
import Logging
import TestSupport
import Testing

@testable import Daemon

@Suite struct StandardErrorLogTests {
    @Test func aLineHasTimeLevelLabelMessageAndMetadata() {
        let line = StandardErrorLog.line(
            level: .warning, label: "origin", message: "no answer",
            metadata: ["host": "example.com", "asset": "sintel"])
        #expect(line == "warning origin: no answer asset=sintel host=example.com")
    }

    @Test func outsideTextCannotForgeALine() {
        let line = StandardErrorLog.line(
            level: .info, label: "server", message: "GET /a\r\n12:34:56 error\u{1B}[2J\u{9B}", metadata: [:])
        #expect(line == "info server: GET /a\\u{D}\\u{A}12:34:56 error\\u{1B}[2J\\u{9B}")
    }

    // MARK: Equal lines

    @Test func equalLinesAreCountedForAMinute() {
        var lines = RepeatedLines()
        #expect(lines.add("a", at: 0) == ["a"])
        #expect(lines.add("b", at: 1) == ["b"])
        for second in 2..<50 {
            #expect(lines.add(second % 2 == 0 ? "a" : "b", at: Double(second)) == [])
        }
        #expect(lines.add("c", at: 60) == ["a (24 more times)", "c"])
        #expect(lines.add("a", at: 60.5) == ["a"])
        #expect(lines.add("c", at: 61) == ["b (24 more times)"])
        #expect(lines.end() == ["c (1 more times)"] && lines.end() == [])
    }

    @Test func manyDifferentLinesAreAllWritten() {
        var lines = RepeatedLines()
        for number in 0..<1000 {
            #expect(lines.add("\(number)", at: 0) == ["\(number)"])
        }
    }

    // MARK: The file

    @Test func aLongFileIsSetAsideWhileItIsOpen() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("daemon.log")
        let error = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        let output = dup(error)
        defer {
            close(error)
            close(output)
        }
        func write(_ count: Int) {
            let bytes = [UInt8](repeating: 0x61, count: count)
            #expect(Glibc.write(error, bytes, count) == count)
            ErrorOutput.limitFile(at: path, error: error, output: output)
        }
        func size(_ path: String) -> Int { (try? Data(contentsOf: URL(filePath: path)).count) ?? -1 }
        write(ErrorOutput.limit)
        #expect(size(path) == ErrorOutput.limit && size(path + ".1") == -1)
        write(1)
        #expect(size(path) == 0 && size(path + ".1") == ErrorOutput.limit + 1)
        #expect(Glibc.write(output, "x", 1) == 1)
        write(2)
        #expect(size(path) == 3)
        // Another file of that name is left alone.
        try FileManager.default.moveItem(atPath: path, toPath: path + ".2")
        try folder.write(Data(), to: "daemon.log")
        write(ErrorOutput.limit)
        #expect(size(path) == 0 && size(path + ".2") == ErrorOutput.limit + 3)
    }
}
