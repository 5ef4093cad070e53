import Foundation
import Testing
import WeirAPI

@testable import weir

/// The words of planned recordings in `weir record`, `weir list` and `weir status`.
@Suite struct PlannedRecordingTextTests {
    /// 2026-11-30 20:15 UTC.
    private static let begin = 1_796_069_700

    @Test(
        arguments: [
            (2700, nil, nil, "2026-11-30 20:15 to 21:00"),
            (4 * 3600, nil, nil, "2026-11-30 20:15 to 2026-12-01 00:15"),
            (nil, ["mon", "fri"], "5", "2026-11-30 20:15, every mon, fri, keeps 5"),
            (2700, ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], nil, "2026-11-30 20:15 to 21:00, every day"),
        ] as [(Int?, [String]?, String?, String)])
    func theEndOfTheSameDayHasNoDate(seconds: Int?, days: [String]?, keep: String?, words: String) throws {
        var times = API.RecordingTimes(at: "20:15")
        times.every = days
        times.keep = keep
        var recording = API.ScheduledRecording(name: "news-2015", channel: "news", times: times)
        recording.begin = Self.begin
        recording.end = seconds.map { Self.begin + $0 }
        #expect(recording.words(in: try #require(TimeZone(secondsFromGMT: 0))) == words)
    }
}
