import Foundation
import TestSupport

/// A player that plays one media playlist in real time, reads ahead so far and no further, as hls.js and VLC do, and
/// counts its stalls.
struct RealTimePlayer {
    /// One segment as the player saw it. Times are seconds since the player began.
    struct Load: Sendable {
        /// When it was asked for, and when its last byte had come.
        let asked: Double
        let got: Double
        /// The media ahead when it was asked for, in seconds.
        let ahead: Double
    }

    /// How it went.
    struct Outcome: Sendable {
        /// How often it had to wait in mid-play, and for how long altogether, in seconds.
        var stalls = 0
        var stalled = 0.0
        /// From the beginning to the first picture, in seconds.
        var startup = 0.0
        var loads: [Load] = []
    }

    /// So much media is held at most, in seconds.
    let ahead: Double
    private let began = ContinuousClock.now
    private var outcome = Outcome()
    /// Where the media that has come ends, and the playhead at an instant.
    private var front = 0.0
    private var anchor: (position: Double, at: Double)?

    private init(ahead: Double) { self.ahead = ahead }

    /// Plays the lowest variant behind a multivariant playlist to its end.
    ///
    /// - Parameter got: told of each segment when it has come.
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
        try await player.wait { $0 <= 0 }
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

    /// Real time is what this is about: it waits for its own playhead.
    private func wait(until isTime: (Double) -> Bool) async throws {
        while !isTime(buffer(at: now)) { try await Task.sleep(for: .milliseconds(20)) }
    }

    private mutating func load(_ url: String, _ duration: Double) async throws -> Load {
        try await wait { $0 <= ahead - duration }
        let (asked, before) = (now, buffer(at: now))
        _ = try await Self.fetch(url)
        let got = now
        let dry = -buffer(at: got)
        if anchor == nil {
            (outcome.startup, anchor) = (got, (0, got))
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
