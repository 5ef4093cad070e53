import Assets
import HTTPMessage
import Store
import Testing

@testable import Downloads

struct DownloadFaultsTests {
    enum Event {
        case fails(LibraryError.Code, isKey: Bool = false, isNeededByAll: Bool = false)
        case lacksCues(Int)
        case succeeds
        /// The host refuses the URL of this number, so many milliseconds after the beginning.
        case isRefused(Int, at: Int)
        case diskFails
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var events: [Event]
        /// True if the work stops although holes are left.
        var stops: Bool
        /// In words: the code, ` key` if it is a key's, and the number of failed resources; nil if nothing has failed.
        var outcome: String?
    }

    static let cases = [
        Case(testDescription: "nothing fails", events: [.succeeds], stops: false, outcome: nil),
        Case(
            testDescription: "one piece does not stop the others", events: [.fails(.missing), .succeeds], stops: false,
            outcome: "missing 1"),
        Case(
            testDescription: "eight in a row are no accident", events: Array(repeating: .fails(.badOrigin), count: 8),
            stops: true, outcome: "badOrigin 8"),
        Case(
            testDescription: "seven, a success, and seven",
            events: Array(repeating: .fails(.missing), count: 7) + [.succeeds]
                + Array(repeating: .fails(.badOrigin), count: 7),
            stops: false, outcome: "missing 14"),
        Case(
            testDescription: "an absent origin concerns everything", events: [.fails(.missing), .fails(.originAbsent)],
            stops: true, outcome: "originAbsent 2"),
        Case(
            testDescription: "a dead host says nothing about the others",
            events: Array(repeating: .fails(.hostDead), count: 20), stops: false, outcome: "hostDead 20"),
        Case(
            testDescription: "another error says more than a dead host", events: [.fails(.hostDead), .fails(.missing)],
            stops: false, outcome: "missing 2"),
        Case(
            testDescription: "a key that is refused may be given later", events: [.fails(.missing, isKey: true)],
            stops: false, outcome: "missing key 1"),
        Case(
            testDescription: "without its only key the variant is useless",
            events: [.fails(.missing, isKey: true, isNeededByAll: true)], stops: true, outcome: "missing key 1"),
        Case(
            testDescription: "that it came damaged may pass", events: [.fails(.badOrigin, isNeededByAll: true)],
            stops: false, outcome: "badOrigin 1"),
        Case(
            testDescription: "cues may be missing, however many", events: (1...20).map { .lacksCues($0) }, stops: false,
            outcome: "missing 20"),
        Case(
            testDescription: "a segment is worth more than cues", events: [.lacksCues(1), .fails(.badOrigin)],
            stops: false, outcome: "badOrigin 2"),
        Case(
            testDescription: "two refusals within a second are a ban",
            events: [.isRefused(1, at: 0), .isRefused(2, at: 900)], stops: true, outcome: "banned"),
        Case(
            testDescription: "two refusals of one URL are not",
            events: [.isRefused(1, at: 0), .isRefused(1, at: 900)], stops: false, outcome: "originRefused 2"),
        Case(
            testDescription: "the first reason to stop counts", events: [.diskFails, .fails(.originAbsent)],
            stops: true,
            outcome: "disk"),
    ]

    @Test(arguments: cases)
    func failuresDecide(work: Case) throws {
        var faults = DownloadFaults()
        let start = ContinuousClock.now
        for event in work.events {
            switch event {
            case .fails(let code, let isKey, let isNeededByAll):
                faults.record(LibraryError(code, ""), isKey: isKey, isNeededByAll: isNeededByAll)
            case .lacksCues(let number): faults.record(LibraryError(.missing, ""), lostCues: number, of: "t0")
            case .succeeds: faults.recordSuccess()
            case .isRefused(let number, let time):
                let url = try WebURL("http://a/\(number).ts")
                let error = LibraryError(.originRefused, "")
                _ = faults.recordRefusal(error, of: url, at: start + .milliseconds(time))
            case .diskFails: faults.stop(.storeFailed(StoreError(.diskFull, path: "")))
            }
        }
        #expect((faults.stopReason != nil) == work.stops)
        #expect(faults.outcome.map(words) == work.outcome)
    }

    private func words(_ outcome: DownloadOutcome) -> String {
        switch outcome {
        case .complete: "complete"
        case .failed(let error, let isKey, let count): "\(error.code)\(isKey ? " key" : "") \(count)"
        case .banned: "banned"
        case .storeFailed: "disk"
        }
    }

    @Test func lostCuesAreListedByRendition() {
        var faults = DownloadFaults()
        for (number, rendition) in [(3, "t0"), (4, "t0"), (3, "t0"), (1, "t1")] {
            faults.record(LibraryError(.missing, ""), lostCues: number, of: rendition)
        }
        #expect(faults.lost == ["t0": [3, 4], "t1": [1]])
    }

    @Test func anInterruptionIsNoFailure() {
        var faults = DownloadFaults()
        faults.recordInterruption(LibraryError(.cancelled, ""))
        #expect(faults.outcome == nil)
        let codes = [faults.takeInterruption()?.code, faults.takeInterruption()?.code]
        #expect(codes == [.cancelled, nil])
    }
}
