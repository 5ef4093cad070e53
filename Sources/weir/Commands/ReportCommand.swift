import AccessLog
import ArgumentParser
import SafeText
import WeirAPI

struct ReportCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Report a player's playback state; for scripts of players.",
        discussion: """
            weir.lua runs this command. In "weir log", reported values replace inferred ones. Counts and times start with the \
            playback and never fall, and the last report counts. Exits with 66 if there is no such running session.
            """)

    @Argument(
        help: ArgumentHelp(
            "The session's id in \"weir log\" or in its URLs, or the player's CMCD session id (sid).",
            valueName: "session"))
    var session: String
    @Option(help: ArgumentHelp("Position in media time.", valueName: "seconds"))
    var playhead: Seconds
    @Option(help: ArgumentHelp("Playback rate: 1 for real time, 0 for paused.", valueName: "rate"))
    var rate: Ratio = 1
    @Flag(help: "Playback waits for media.")
    var stalled = false
    @Option(help: ArgumentHelp("Number of stalls.", valueName: "n"))
    var stalls: Int
    @Option(help: ArgumentHelp("Total time of the stalls.", valueName: "seconds"))
    var stallTime: Seconds
    @Option(help: ArgumentHelp("Number of frames that were not shown in time.", valueName: "n"))
    var framesDropped: Int?
    @Option(help: ArgumentHelp("Time to the first frame.", valueName: "seconds"))
    var startup: Seconds?
    @OptionGroup var common: CommonOptions

    private var report: PlayerReport {
        PlayerReport(
            playhead: playhead, rate: rate, isStalled: stalled, stalls: stalls, stallTime: stallTime,
            framesDropped: framesDropped, startup: startup)
    }

    func validate() throws {
        if let key = report.keyOutOfRange {
            throw ValidationError("\(key) is out of range.")
        }
    }

    func execute() async throws { _ = try await common.daemon().client.call(Endpoints.report, session, body: report) }
}
