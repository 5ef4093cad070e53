import Foundation

/// A real player that `tools/lab/player` runs unattended.
public enum Player: String, CaseIterable, Codable, Sendable {
    /// A decode of the whole as fast as it comes; a seek is a start from there.
    case ffmpeg
    /// On a virtual display, by its keys, in real time.
    case ffplay
    /// As users have it: it reads everything ahead, so it seeks in its own cache.
    case mpv
    /// Without its cache: each seek asks the server.
    case mpvUncached = "mpv-uncached"
    /// Through its rc interface.
    case vlc
    /// Its playbin3, as fast as it comes, from the start alone.
    case gstreamer
    /// Headless, its own HLS in a `<video>` of a page of the server that it plays from.
    case chromium

    /// How one playing went.
    public struct Report: Codable, Sendable {
        /// Where a seek led.
        public struct Seek: Codable, Sendable {
            /// The position that was asked for, in seconds.
            public let to: Double
            /// Where the player found itself.
            public let at: Double
        }

        /// The player itself came to the end of the media.
        public let ended: Bool
        /// The last position seen, in seconds; VLC and mpv are asked so seldom that it may be three seconds before the
        /// end.
        public let position: Double?
        /// One for each seek that led anywhere.
        public let seeks: [Seek]
        /// Warnings and errors, each once, without what differs from run to run.
        public let problems: [String]
    }

    /// Plays a URL from the start, or from the last of the positions that it seeks to first, to the end.
    ///
    /// Throws when the player could not be run at all; what went wrong in playing is in the report.
    public func play(
        _ url: String, seekingTo positions: [Int] = [], within bound: Duration = .seconds(90)
    ) async throws -> Report {
        var arguments = [rawValue, url, "--within", String(bound.components.seconds)]
        if !positions.isEmpty { arguments += ["--seek", positions.map { String($0) }.joined(separator: ",")] }
        await PlayerSlots.shared.take()
        let outcome = await Result.of {
            try await ProcessRunner.run(Repository.path("tools/lab/player"), arguments, within: bound + .seconds(30))
        }
        await PlayerSlots.shared.give()
        let result = try outcome.get()
        guard result.exit == .code(0) else { throw TimedOut("a report of \(rawValue): \(result.errors)") }
        return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    }
}

/// Bounds the players that run at one time: they play in real time, so a crowd of them would drop frames.
private actor PlayerSlots {
    static let shared = PlayerSlots()
    private var free = 4
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func take() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func give() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}

extension Result where Failure == any Error {
    /// What work that may throw came to.
    fileprivate static func of(_ work: () async throws -> Success) async -> Result {
        do {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }
}
