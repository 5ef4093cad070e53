internal import Foundation
internal import Glibc
internal import Subprocess

/// A program that runs in a command's terminal, such as a player.
package enum ForegroundProgram {
    /// The end of a program.
    package enum End: Equatable, Sendable {
        case code(Int32)
        case signal(Int32)
        /// It could not be started; the value of `errno`.
        case failure(Int32)
    }

    /// Runs a program to its end. It gets the terminal's signals itself; SIGTERM and SIGHUP are passed on.
    package static func run(_ path: String, _ arguments: [String]) async -> End {
        // Ctrl-C and Ctrl-\ are for the program, which decides when it ends.
        let interrupt = signal(SIGINT, SIG_IGN)
        let quit = signal(SIGQUIT, SIG_IGN)
        defer {
            signal(SIGINT, interrupt)
            signal(SIGQUIT, quit)
        }

        let process: SpawnedProcess
        do throws(SpawnedProcess.Failure) {
            process = try SpawnedProcess(
                [path] + arguments,
                streams: (.descriptor(STDIN_FILENO), .descriptor(STDOUT_FILENO), .descriptor(STDERR_FILENO)))
        } catch {
            return .failure(error.code)
        }

        let passing = Task {
            while let number = await Signals.first(of: [SIGTERM, SIGHUP]) {
                process.send(number)
            }
        }
        defer { passing.cancel() }
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let end: End =
                    switch process.wait() {
                    case .code(let code): .code(code)
                    case .signal(let signal): .signal(signal)
                    }
                continuation.resume(returning: end)
            }
        }
    }
}
