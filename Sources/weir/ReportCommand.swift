import API
import AccessLog
import ArgumentParser

/// `weir report`
struct ReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Tell what a player saw that Weir cannot see; for the scripts of players.",
        discussion: """
            weir.lua runs it. What is told goes into "weir log", in the place of what is inferred. Counts and times begin with the \
            playback and do not fall: a report says how it stands, and the last one is what counts. Ends with 66 where no such \
            session goes on.
            """)

    @Argument(
        help: ArgumentHelp(
            "The session, as in \"weir log\" or in its URLs, or as the player called it by CMCD (sid).",
            valueName: "session"))
    var session: String

    @Option(help: ArgumentHelp("Where it is, in media time.", valueName: "seconds"))
    var playhead: Double

    @Option(help: ArgumentHelp("How fast it plays: 1 is real time, 0 that it stands.", valueName: "rate"))
    var rate = 1.0

    @Flag(help: "It stands for want of media.")
    var stalled = false

    @Option(help: ArgumentHelp("How often it did so far.", valueName: "n"))
    var stalls: Int

    @Option(help: ArgumentHelp("For how long, altogether.", valueName: "seconds"))
    var stallTime: Double

    @Option(help: ArgumentHelp("How many pictures it did not show in time.", valueName: "n"))
    var framesDropped: Int?

    @Option(help: ArgumentHelp("How long it took to the first picture.", valueName: "seconds"))
    var startup: Double?

    @OptionGroup var common: CommonOptions

    private var report: PlayerReport {
        PlayerReport(
            playhead: playhead, rate: rate, isStalled: stalled, stalls: stalls, stallTime: stallTime,
            framesDropped: framesDropped, startup: startup)
    }

    func validate() throws {
        if let key = report.keyOutOfRange { throw ValidationError("\(key) is out of its range.") }
    }

    func run() async throws {
        try await reporting(common) { _ = try await common.daemon().client.report(report, of: session) }
    }
}
