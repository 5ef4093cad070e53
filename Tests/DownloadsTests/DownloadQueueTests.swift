import Assets
import Orders
import Testing

@testable import Downloads

@Suite struct DownloadQueueTests {
    /// Downloads by letter: `a` is queued, `A` is running, `!` marks an important one, `~` a recording, `.` is neither queued nor
    /// running.
    private func next(_ text: String, slots: Int) -> String {
        let entries = text.split(separator: " ").map { word in
            let id = word.filter(\.isLetter)
            return DownloadQueue.Entry(
                id: id.lowercased(), priority: word.contains("!") ? .important : .default,
                state: id != id.lowercased() ? .running : word.contains(".") ? .paused : .queued,
                isRecording: word.contains("~"))
        }
        return DownloadQueue(slots: slots).next(of: entries).joined()
    }

    @Test(arguments: [
        ("a b c d", 3, "abc"), ("A b c d", 3, "bc"), ("A B C d", 3, ""), ("A B C D e", 3, ""), ("", 3, ""),
        ("a b c! d!", 3, "cda"), ("A b c!", 2, "c"), ("a. b c.", 2, "b"), ("A. b", 1, ""),
    ])
    func importantDownloadsComeFirstThenByAge(_ entries: String, _ slots: Int, _ wanted: String) {
        #expect(next(entries, slots: slots) == wanted)
    }

    @Test(arguments: [
        ("A B C d~", 3, "d"), ("A~ B~ C~ d e", 1, "d"), ("A b~ c~ d!", 1, "bc"), ("a b~.", 1, "a"), ("A~ b~ c", 0, "b"),
    ])
    func recordingsTakeNoSlot(_ entries: String, _ slots: Int, _ wanted: String) {
        #expect(next(entries, slots: slots) == wanted)
    }
}
