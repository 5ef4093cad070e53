import Glibc
import Testing

@testable import SegmentFormat

/// Subtitle files that were made to keep the daemon busy. Work is counted, or measured by the processor time of the thread with a
/// text and with one of four times its length: wall time depends on the machine.
@Suite(.serialized) struct HandedInTextTests {
    private static let times = "1\n00:00:01,000 --> 00:00:03,000\n"

    /// The processor time of this thread that `body` takes, in seconds.
    private func processorTime(of body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
        let begin = now()
        try body()
        return now() - begin
    }

    @Test(
        "A character is searched once in a line, however many tags begin in it", arguments: ["<", ">", "<>", "<<<<>"])
    func searchesOnce(pattern: String) {
        let line = String(repeating: pattern, count: 2000)
        var finder = SubRipMarkup.NextCharacter(">")
        var rest = line[...]
        while !rest.isEmpty {
            #expect(finder.index(in: rest) == rest.firstIndex(of: ">"))
            rest.removeFirst()
        }
        // One search for each that is found, and one that finds none.
        #expect(finder.searches <= line.count { $0 == ">" } + 1)
    }

    @Test(
        "Time grows with the length of the text, and no faster",
        arguments: [
            ("beginnings of tags", times, "<"), ("beginnings of positions", times, "{\\"),
            ("both", times, "<{\\"), ("blanks", times, " "), ("ampersands", times, "&amp"),
            ("joined letters", times, "a\u{301}"), ("digits", times, "1"), ("arrows", "", "-->"),
            ("lines of numbers", times, "1\n"), ("empty lines", "WEBVTT\n\n", "\n"),
            ("lines of a head", "WEBVTT\n\n", "a\n"),
            ("cues", "WEBVTT\n\n", "00:01.000 --> 00:02.000\na\n\n"), ("flags", times, "\u{1F1E9}"),
        ])
    func isLinear(name: String, head: String, pattern: String) {
        func time(_ count: Int) -> Double {
            let bytes = Array((head + String(repeating: pattern, count: count / pattern.utf8.count) + "\nb\n").utf8)
            return processorTime { _ = try? CueFile(bytes) }
        }
        let short = max(time(20_000), time(20_000), 1e-4)
        let long = time(80_000)
        // 4, where it is linear; 16, where each character looks at the rest of its line.
        #expect(long < short * 9, "\(name): \(short) s, then \(long) s")
    }

    @Test("A line of 600 KB is read, and its text is kept")
    func readsLongLine() throws {
        let file = try CueFile(Array((Self.times + String(repeating: "<", count: 600_000) + "\n").utf8))
        #expect(file.cues.first?.lines.first?.utf8.count == 4 * 600_000)
    }

    @Test("Work ends when nobody waits for it")
    func isGivenUp() {
        for head in ["", "WEBVTT\n\n"] {
            let text = head + String(repeating: "00:00:01.000 --> 00:00:02.000\na\n\n", count: 1000)
            var steps = 0
            let error = #expect(throws: SubtitleError.self) {
                try CueFile(Array(text.utf8)) {
                    steps += 1
                    return steps < 5
                }
            }
            #expect(error == .givenUp && steps == 5)
        }
    }

    @Test("A message shows the beginning of a long line")
    func messageIsShort() {
        let error = #expect(throws: SubtitleError.self) {
            try CueFile(Array(("1\n" + String(repeating: "x", count: 100_000) + " --> 1\n").utf8))
        }
        #expect(error.map { $0.reason.utf8.count < 200 } ?? false)
    }
}
