import Foundation

/// A real media player that `tools/lab/player` runs unattended.
package enum Player: String, CaseIterable, Codable, Sendable {
    /// Decodes as fast as possible; a seek is a new start at that position.
    case ffmpeg
    /// Plays in real time on a virtual display, controlled by keys.
    case ffplay
    /// Plays with default settings: reads everything ahead and seeks in its cache.
    case mpv
    /// Plays without a cache: each seek makes a request.
    case mpvUncached = "mpv-uncached"
    /// Plays under control of its rc interface.
    case vlc
    /// Plays by playbin3, as fast as possible, from the start only.
    case gstreamer
    /// Plays by native HLS in a headless page from the media's own server.
    case chromium

    package struct Report: Codable, Sendable {
        package struct Seek: Codable, Sendable {
            package let to: Double
            package let at: Double
        }

        /// True if the player reached the end of the media.
        package let ended: Bool
        /// Last observed position in seconds. VLC and mpv are polled rarely, so it may be three seconds before the end.
        package let position: Double?
        package let seeks: [Seek]
        /// Distinct warnings and errors, without parts that differ between runs.
        package let problems: [String]
    }

    /// Plays a URL to the end, from the start or from the last of the positions to seek to.
    ///
    /// Throws if the player cannot be run; playback problems are in the report.
    package func play(
        _ url: String, seekingTo positions: [Int] = [], within bound: Duration = .seconds(90)
    ) async throws -> Report {
        var arguments = [rawValue, url, "--within", String(bound.components.seconds)]
        if !positions.isEmpty {
            arguments += ["--seek", positions.map { String($0) }.joined(separator: ",")]
        }
        await PlayerSlots.shared.acquire()
        let outcome = await Result.of {
            try await ProcessRunner.run(Repository.path("tools/lab/player"), arguments, within: bound + .seconds(30))
        }
        await PlayerSlots.shared.release()
        let result = try outcome.get()
        guard result.exit == .code(0) else { throw TimedOut("a report of \(rawValue): \(result.errors)") }
        return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    }
}

/// Limits concurrent players: they play in real time, so too many would drop frames.
private actor PlayerSlots {
    static let shared = PlayerSlots()
    private var free = 4
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func acquire() async {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    func release() {
        if waiting.isEmpty {
            free += 1
        } else {
            waiting.removeFirst().resume()
        }
    }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ work: () async throws -> Success) async -> Result {
        do {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }
}
