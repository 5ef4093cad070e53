import ArgumentParser
import Control
import Foundation

/// `weir verify`
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read what is stored, and say whether it is what had come.",
        discussion: """
            What is wrong is set aside at once, and is never played again. Ends with 0 where all is sound, and with 65 where \
            something is missing that a download wants, or was wrong. Ctrl-C ends it in the daemon, too.
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
            var worst: Failure?
            let wanted = all ? try await client.assets(isBrief: true).map(\.name) : names
            for (place, name) in wanted.enumerated() {
                if place > 0, !json { Output.line("") }
                guard let failure = await verify(name, client) else { continue }
                guard failure.exitCode != 130, failure.exitCode != 69 else { throw failure }
                if let worst { Output.error(worst.text) }
                worst = failure
            }
            if let worst { throw worst }
        }
    }

    /// Verifies one asset, and says what was found; gives why it did not end with 0.
    private func verify(_ name: String, _ client: ControlClient) async -> Failure? {
        let follower = VerificationFollower(client: client, style: style, state: common.state)
        let outcome = await Interruption.orEnd { await follower.run(name, API.VerificationRequest(repair: repair)) }
        switch outcome {
        case .failure(let failure):
            if json { Output.line(VerificationText.result(nil, failure)) }
            return failure
        case .success(let verification):
            let failure = VerificationText.failure(verification)
            if json {
                Output.line(VerificationText.result(verification, failure))
            } else {
                for line in VerificationText.lines(verification) { Output.line(line) }
            }
            return failure
        }
    }

    private var style: ProgressReporter.Style {
        if json { return .json }
        let environment = ProcessInfo.processInfo.environment
        guard Terminal.canRedraw(environment: environment) else { return .plain }
        return .drawn(hasColor: Terminal.hasColor(environment: environment))
    }
}
