import API
import ArgumentParser

/// `weir verify`
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read what is stored, and say whether it is what had come.",
        discussion: """
            What is wrong is set aside at once, and is never played again. Ends with 0 where all is sound, and with 65 where \
            something is missing that a download needs, or was wrong. Ctrl-C ends it in the daemon, too.
            """)

    @Argument(help: ArgumentHelp("The assets' names, or their URLs.", valueName: "name"))
    var names: [String] = []

    @Flag(help: "All assets.")
    var all = false

    @Flag(help: "Fetch again what is missing or was wrong, and nothing else.")
    var repair = false

    @Flag(help: "Write one JSON object a line: progress, and a result for each asset.")
    var json = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if names.isEmpty != all { throw ValidationError("Give names, or --all.") }
    }

    func run() async throws {
        try await reporting(common) {
            let client = try common.daemon().client
            let follower = JobFollower<VerificationText>(
                client: client, style: ProgressReporter.Style(isJSON: json), state: common.state)
            let request = API.VerificationRequest(repair: repair)
            var worst: Failure?
            let wanted = all ? try await client.assets(isBrief: true).map(\.name) : names
            for (place, name) in wanted.enumerated() {
                if place > 0, !json { Output.line("") }
                guard let failure = await follower.report(name, request) else { continue }
                guard failure.exitCode != 130, failure.exitCode != 69 else { throw failure }
                if let worst { Output.error(worst.text) }
                worst = failure
            }
            if let worst { throw worst }
        }
    }
}
