import Foundation
import TestSupport

/// Plays one media playlist in real time with a limited buffer, as hls.js and VLC do, and counts stalls.
struct RealTimePlayer {
    /// One received segment. Times are seconds since the player started.
    struct Load: Sendable {
        /// Time of the request, and of the last byte.
        let asked: Double
        let got: Double
        /// Buffered media at the request, in seconds.
        let ahead: Double
    }

    /// Result of the playback.
    struct Outcome: Sendable {
        /// Number of stalls, and their total duration in seconds.
        var stalls = 0
        var stalled = 0.0
        /// Startup time to the first picture, in seconds.
        var startup = 0.0
        var loads: [Load] = []
    }

    /// Maximum buffer in seconds.
    let ahead: Double
    private let began = ContinuousClock.now
    private var outcome = Outcome()
    /// End of the received media, and the playhead at an instant.
    private var front = 0.0
    private var anchor: (position: Double, at: Double)?

    private init(ahead: Double) { self.ahead = ahead }

    /// Plays the lowest variant behind a multivariant playlist to its end.
    ///
    /// - Parameter got: called with each received segment.
    static func playLowest(
        _ master: String, ahead: Double, got: (Int, Load) async throws -> Void = { _, _ in }
    ) async throws -> Outcome {
        var player = RealTimePlayer(ahead: ahead)
        guard let media = try await PlaylistWalk.segments(master).first else {
            throw TimedOut("a variant in \(master)")
        }
        let text = try await fetch(media)
        let durations = text.split(separator: "\n").filter { $0.hasPrefix("#EXTINF:") }.compactMap {
            Double($0.dropFirst("#EXTINF:".count).prefix { $0 != "," })
        }
        let segments = PlaylistWalk.segments(text, at: media)
        for (index, (segment, duration)) in zip(segments, durations).enumerated() {
            let load = try await player.load(segment, duration)
            try await got(index, load)
        }
        try await player.play(untilBuffer: 0)
        return player.outcome
    }

    private static func fetch(_ url: String) async throws -> String {
        let answer = try await HTTPProbe.fetch(url, within: .seconds(60))
        guard answer.status == 200, answer.isComplete else { throw PlaylistWalk.Refused(url: url, answer: answer) }
        return answer.text
    }

    private var now: Double { (ContinuousClock.now - began) / .seconds(1) }

    private func buffer(at now: Double) -> Double {
        guard let anchor else { return front }
        return front - (anchor.position + now - anchor.at)
    }

    /// Plays in real time until its buffer has shrunk to some seconds. The player's own time passes here; nothing is awaited.
    private func play(untilBuffer seconds: Double) async throws {
        let left = buffer(at: now) - seconds
        if left > 0 {
            try await Task.sleep(for: .seconds(left))
        }
    }

    private mutating func load(_ url: String, _ duration: Double) async throws -> Load {
        try await play(untilBuffer: ahead - duration)
        let asked = now
        let before = buffer(at: now)
        _ = try await Self.fetch(url)
        let got = now
        let dry = -buffer(at: got)
        if anchor == nil {
            outcome.startup = got
            anchor = (0, got)
        } else if dry > 0.01 {
            outcome.stalls += 1
            outcome.stalled += dry
            anchor = (front, got)
        }
        front += duration
        let load = Load(asked: asked, got: got, ahead: max(0, before))
        outcome.loads.append(load)
        return load
    }
}
