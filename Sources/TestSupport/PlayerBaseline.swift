/// What a player makes of a fixture that it plays straight from a plain origin: what Weir must equal.
///
/// Seen with ffmpeg 5.1.9, mpv 0.35.1, VLC 3.0.24, GStreamer 1.22.0 and Chromium 156. All of them play all fixtures to the
/// end; a fixture lasts twelve seconds.
public struct PlayerBaseline: Sendable {
    /// The player.
    public let player: Player
    /// The fixture's folder in `fixtures/media`.
    public let fixture: String

    /// A pair of the table.
    public init(_ player: Player, _ fixture: String) {
        self.player = player
        self.fixture = fixture
    }

    /// Each player with each fixture.
    public static let all = Player.allCases.flatMap { player in
        Repository.fixtures.map { PlayerBaseline(player, $0) }
    }

    /// Whether it can seek.
    ///
    /// libavformat loses its place in fMP4 when it seeks to what it has not read yet ("Invalid NAL unit size", then the
    /// end; ffplay hangs). mpv by itself does not come to that here, for it has read all of so short a fixture. GStreamer's
    /// launcher has no seeking.
    public var seeks: Bool {
        if player == .gstreamer { return false }
        let isFragmentedMP4 = fixture == "cmaf" || fixture == "byterange-fmp4"
        return !(isFragmentedMP4 && [.ffmpeg, .ffplay, .mpvUncached].contains(player))
    }

    /// The problems in a report that the plain origin does not cause; none is what a test wants to see.
    public func newProblems(in report: Player.Report) -> [String] {
        // mpv's bare prefix is an empty line of a message whose other lines count.
        report.problems.filter { problem in
            problem != "[cplayer]" && !tolerated.contains { problem.contains($0) }
        }
    }

    /// In words what a report shows to be worse than from the plain origin; nil when nothing is.
    ///
    /// `positions` are those that the player was to seek to.
    public func shortcoming(of report: Player.Report, seekingTo positions: [Int] = []) -> String? {
        let problems = newProblems(in: report)
        if !problems.isEmpty { return "\(player) on \(fixture) complains: \(problems)" }
        // Three and a half seconds: see Player.Report.position.
        guard report.ended, let position = report.position, position >= 8.5 else {
            return
                "\(player) on \(fixture) did not come to the end but to \(report.position ?? -1) (ended: \(report.ended))"
        }
        // ffplay's keys jump by an interval, and its clock starts where that of the transport stream does.
        let tolerance = player == .ffplay ? 3.0 : 1.5
        let arrived = report.seeks.map { abs($0.to - $0.at) <= tolerance }
        return arrived.count == positions.count && !arrived.contains(false)
            ? nil : "\(player) on \(fixture) sought to \(report.seeks) instead of \(positions)"
    }

    /// Parts of what the players say about the fixtures as they are.
    private var tolerated: [String] {
        switch player {
        case .mpv, .mpvUncached:
            // As below; and what a busy machine does to real-time playing, in a message of several lines.
            return [
                "Can't support the subtitle", "list sequence have been wraped", "desynchronisation detected",
                "hardware, temporary CPU spikes", "position will not match to the video", "Audio device underrun",
            ]
        case .ffmpeg, .ffplay:
            // No WebVTT renditions in 5.1; the other line (its spelling) comes with any seek.
            return ["Can't support the subtitle", "list sequence have been wraped"]
        case .vlc:
            // The encoder's first AAC frame; the stuffing at the end of an AES segment; the init section without
            // samples; and what a busy machine does to real-time playing, seeks that come while decoders restart among
            // it.
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
