import TestSupport
import Testing

/// The frames of the fixtures on a plain origin; each is decoded once.
actor PlainFrames {
    private static let shared = PlainFrames()
    private var known: [String: Task<FrameHashes, any Error>] = [:]

    /// The frames of a fixture, all streams of all variants.
    static func of(_ fixture: String) async throws -> FrameHashes {
        try await shared.task(fixture, onlyBest: false).value
    }

    /// The frames of its last variant, which is the best one, with the default sound.
    ///
    /// The start time of a presentation depends on all its streams, so this is not just a part of the whole.
    static func ofBest(_ fixture: String) async throws -> FrameHashes {
        try await shared.task(fixture, onlyBest: true).value
    }

    private func task(_ fixture: String, onlyBest: Bool) -> Task<FrameHashes, any Error> {
        let key = fixture + (onlyBest ? " best" : "")
        if let task = known[key] {
            return task
        }
        let task = Task {
            let origin = try await TestOrigin()
            if onlyBest {
                try await origin.add(try Self.onlyBest(of: fixture))
            }
            return try await FrameHashes.ofUnchanging(origin.master(fixture), name: key)
        }
        known[key] = task
        return task
    }

    /// Replaces a fixture's multivariant playlist by one with only its last variant and its default audio.
    static func onlyBest(of fixture: String) throws -> OriginRule {
        let text = best(of: String(decoding: try Repository.fixture("/\(fixture)/master.m3u8"), as: UTF8.self))
        return OriginRule("/\(fixture)/master.m3u8") { ($0.status, $0.body) = (200, text) }
    }

    private static func best(of master: String) -> String {
        let lines = master.split(separator: "\n")
        let sound = lines.filter { $0.hasPrefix("#EXT-X-MEDIA:TYPE=AUDIO") && $0.contains("DEFAULT=YES") }
        let variant = (lines.lastIndex { $0.hasPrefix("#EXT-X-STREAM-INF") } ?? 0)...
        return (["#EXTM3U"] + sound + lines[variant].prefix(2)).map { $0 + "\n" }.joined()
    }
}

extension FrameHashes {
    /// ffmpeg's errors, except about WebVTT renditions, which version 5.1 cannot play.
    var complaints: [Substring] { errors.split(separator: "\n").filter { !$0.contains("subtitle") } }
}

/// Expects that a URL plays exactly the frames of a fixture, all streams of all variants, without ffmpeg errors.
/// Stored variants are listed first, so streams are matched by properties instead of order.
/// - Parameter agent: ffmpeg's User-Agent; nil for its own, which gets the best variant alone once that is downloaded.
func expectFrames(
    _ url: String, of fixture: String, as agent: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let options = agent.map { ["-user_agent", $0] } ?? []
    try await expectFrames(url, PlainFrames.of(fixture), options, sourceLocation)
}

/// Expects that a URL plays exactly the frames of a fixture's best variant with the default audio.
func expectFrames(
    _ url: String, ofBestOf fixture: String, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    try await expectFrames(url, PlainFrames.ofBest(fixture), [], sourceLocation)
}

private func expectFrames(
    _ url: String, _ expected: FrameHashes, _ options: [String], _ sourceLocation: SourceLocation
) async throws {
    let frames = try await FrameHashes.of(url, options: options)
    #expect(frames.streams.count == expected.streams.count, sourceLocation: sourceLocation)
    for (one, other) in [(frames, expected), (expected, frames)] {
        let difference = one.firstDifference(fromPartOf: other)
        #expect(difference == nil, sourceLocation: sourceLocation)
    }
    #expect(frames.complaints == [], sourceLocation: sourceLocation)
}
