/// A player's results with a fixture on a plain origin, which Weir must match.
///
/// Observed with ffmpeg 5.1.9, mpv 0.35.1, VLC 3.0.24, GStreamer 1.22.0 and Chromium 156. All of them play all fixtures to the
/// end; a fixture lasts twelve seconds.
package struct PlayerBaseline: Sendable {
    package let player: Player
    package let fixture: String

    package init(_ player: Player, _ fixture: String) {
        self.player = player
        self.fixture = fixture
    }

    package static let all = Player.allCases.flatMap { player in
        Repository.fixtures.map { PlayerBaseline(player, $0) }
    }

    /// True if the player can seek in the fixture.
    ///
    /// libavformat loses its position in fMP4 if it seeks to data that it has not read ("Invalid NAL unit size", then the
    /// end; ffplay hangs). mpv with its cache avoids this, because it has read all of such a short fixture. GStreamer's
    /// launcher cannot seek.
    package var seeks: Bool {
        if player == .gstreamer {
            return false
        }
        let isFragmentedMP4 = fixture == "cmaf" || fixture == "byterange-fmp4"
        return !(isFragmentedMP4 && [.ffmpeg, .ffplay, .mpvUncached].contains(player))
    }

    /// Problems in a report that do not occur with the plain origin. Tests expect an empty list.
    package func newProblems(in report: Player.Report) -> [String] {
        // mpv's prefix alone is an empty line of a longer message.
        report.problems.filter { problem in
            problem != "[cplayer]" && !tolerated.contains { problem.contains($0) }
        }
    }

    /// Describes a result that is worse than with the plain origin; nil if there is none.
    ///
    /// - Parameter positions: the requested seek positions.
    package func shortcoming(of report: Player.Report, seekingTo positions: [Int] = []) -> String? {
        let problems = newProblems(in: report)
        if !problems.isEmpty {
            return "\(player) on \(fixture) complains: \(problems)"
        }
        // 3.5 s before the end of the twelve: see Player.Report.position.
        guard report.ended, let position = report.position, position >= 8.5 else {
            return
                "\(player) on \(fixture) did not come to the end but to \(report.position ?? -1) (ended: \(report.ended))"
        }
        // ffplay's keys seek by a fixed interval, and its clock starts at the transport stream's first timestamp.
        let tolerance = player == .ffplay ? 3.0 : 1.5
        let arrived = report.seeks.map { abs($0.to - $0.at) <= tolerance }
        return arrived.count == positions.count && !arrived.contains(false)
            ? nil : "\(player) on \(fixture) sought to \(report.seeks) instead of \(positions)"
    }

    /// Parts of messages that the players print with the plain origin.
    private var tolerated: [String] {
        switch player {
        case .mpv, .mpvUncached:
            // The messages of ffmpeg, and those of real-time playback on a busy machine, which have several lines.
            return [
                "Can't support the subtitle", "list sequence have been wraped", "desynchronisation detected",
                "hardware, temporary CPU spikes", "position will not match to the video", "Audio device underrun",
            ]
        case .ffmpeg, .ffplay:
            // ffmpeg 5.1 has no WebVTT renditions; it prints the other line (misspelt) at any seek.
            return ["Can't support the subtitle", "list sequence have been wraped"]
        case .vlc:
            // Caused by the encoder's first AAC frame, the stuffing at the end of an AES segment, the initialization
            // section without samples, and real-time playback on a busy machine, with seeks while decoders restart.
            return [
                "faad decoder warning: decoded zero sample", "ts demux warning: lost synchro",
                "mpN demux warning: elst box found", "mpN demux warning: no chunk defined",
                "mpN demux warning: STTS table of N entries", "doesn't look interleaved", "too late", "late frames",
                "not seekable", "INPUT_CONTROL_SET_TIME", "buffer deadlock prevented",
            ]
        case .gstreamer, .chromium:
            return []
        }
    }
}
