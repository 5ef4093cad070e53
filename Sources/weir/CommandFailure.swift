import ArgumentParser
import Daemon
import Foundation
import Glibc
import Orders
import SafeText
import WeirAPI

/// The failure of a command: a sentence, the next step, and an exit code of sysexits(3).
struct CommandFailure: Error, Equatable {
    var message: String
    var next: String?
    var exitCode: Int32
    /// The error code for `--json`.
    var code: String
    /// The reasons of the exit code 3 for `--json`: the command has finished, but not all or not as asked. Else empty.
    var reasons: [Shortfall.Reason] = []
    /// True if the JSON result of the command, which has been written, holds it.
    var isInResult = false

    init(_ message: String, next: String? = nil, exitCode: Int32, code: String) {
        self.message = message
        self.next = next
        self.exitCode = exitCode
        self.code = code
    }

    /// The failure of a command that has finished, but not all or not as asked.
    init(_ shortfalls: [Shortfall], next: String?) {
        let messages = shortfalls.map(\.message).joined(separator: "; ")
        self.init(messages, next: next, exitCode: 3, code: "not-as-asked")
        reasons = Shortfall.Reason.allCases.filter { reason in shortfalls.contains { $0.reason == reason } }
    }

    /// Converts any error.
    ///
    /// - Parameter state: the state directory from the command line, for the suggested command that starts a daemon.
    init(_ error: any Error, state: String? = nil) {
        switch error {
        case let error as CommandFailure: self = error
        case let error as APIError:
            self.init(error.message, next: error.next, exitCode: error.code.exitCode, code: error.code.rawValue)
            if error.code == .noDaemon, error.next == nil {
                var command = "weir serve"
                if let state {
                    command += " --state \(Self.quoted(state))"
                }
                next = command
            }
        case let error as ConfigurationError:
            self.init(error.description, next: error.next, exitCode: error.exitCode, code: "configuration")
        case let error as ApplicationError:
            self.init(error.message, next: error.next, exitCode: error.exitCode, code: error.code.rawValue)
        default: self.init("\(error)", exitCode: 1, code: "internal")
        }
    }

    /// The failure of a check that could not read its source.
    init(_ failure: CheckResult.Failure) {
        self.init(failure.message, next: failure.next, exitCode: failure.exitCode, code: failure.code)
    }

    /// The message, and the next step on a second line.
    var text: String {
        let line = "weir: \(Printable.line(message))\n"
        guard let next else { return line }
        return line + "try: \(next)\n"
    }

    static func quoted(_ word: String) -> String { ShellWord.quoted(word) }

    /// Writes it on standard error; and on standard output, for `--json`, as a result, unless a result has it already.
    func report(asJSON isJSON: Bool) {
        Output.error(text)
        guard isJSON, !isInResult else { return }
        Output.record(JSONLine.result(of: self))
    }

    /// A copy for a command whose JSON result holds it.
    var inResult: CommandFailure {
        var copy = self
        copy.isInResult = true
        return copy
    }
}

/// A command that prints an error with its next step on standard error, and exits with the error's code.
protocol ReportingCommand: AsyncParsableCommand {
    associatedtype Common: DaemonOptions
    var common: Common { get }

    func execute() async throws
}

/// A command with `--json`. Its last line is then a result with the failure, whatever went wrong.
protocol JSONCommand: AsyncParsableCommand {
    var json: Bool { get }
}

extension ReportingCommand {
    func run() async throws { try await reporting(common) { try await execute() } }
}

extension AsyncParsableCommand {
    /// Runs a body. Prints an error on standard error, for `--json` on standard output too, and converts it to the exit code.
    func reporting(_ common: (any DaemonOptions)? = nil, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let code as ExitCode {
            throw code
        } catch {
            let failure = CommandFailure(error, state: common?.state)
            let command = self as? any JSONCommand
            failure.report(asJSON: command?.json ?? false)
            throw ExitCode(failure.exitCode)
        }
    }
}

/// Converts Ctrl-C to a cancellation, so that the process can end in order.
enum Interruption {
    /// Runs work to its end. SIGINT or SIGTERM cancels its task, which should then return soon.
    static func orEnd<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
        let (isCaught, caught) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            // A signal that came before it is caught would end the process at once, and the work would go on in the daemon.
            for await _ in isCaught {}
            return await work()
        }
        let watch = Task {
            let signal = await Signals.first(of: [SIGINT, SIGTERM]) { caught.finish() }
            if signal != nil {
                task.cancel()
            }
        }
        let value = await task.value
        watch.cancel()
        return value
    }
}
