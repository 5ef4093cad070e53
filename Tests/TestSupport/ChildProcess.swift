package import Foundation
import Glibc
import Subprocess

/// A child process in its own process group, with its output in files.
///
/// The whole group is killed when the last reference is released.
package final class ChildProcess: Sendable {
    package enum Exit: Equatable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// Process id, which is also the process group id.
    package var pid: pid_t { process.pid }
    private let process: SpawnedProcess
    private let name: String
    private let output: TemporaryFolder
    private let input: Int32

    private static let usual = [
        "WEIR_START": "false", "LC_ALL": "C.UTF-8",
        // A daemon would read all certificates of the folder at each start.
        "SSL_CERT_DIR": "", "SSL_CERT_FILE": "", "CURL_CA_BUNDLE": "",
    ]

    /// Starts a program. A name without a slash is looked up in PATH.
    ///
    /// - Parameters:
    ///   - environment: overrides for this process's environment, in which commands start no daemon (WEIR_START), write UTF-8 and
    ///     trust the system's authorities; an empty value removes the variable.
    ///   - folder: working directory; nil for that of this process.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String? = nil
    ) throws {
        name = (program as NSString).lastPathComponent
        output = try TemporaryFolder()
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemCallError("pipe") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        defer { close(ends[0]) }
        input = ends[1]
        let usual = ProcessInfo.processInfo.environment.merging(Self.usual) { $1 }
        let merged = usual.merging(environment) { $1 }.filter { !$0.value.isEmpty }
        let flags = O_WRONLY | O_CREAT | O_APPEND
        do {
            process = try SpawnedProcess(
                (folder.map { ["env", "-C", $0] } ?? []) + [program] + arguments,
                variables: merged.map { $0.key + "=" + $0.value },
                streams: (
                    .descriptor(ends[0]), .file(output.path("stdout"), flags), .file(output.path("stderr"), flags)
                ), leadsGroup: true)
        } catch {
            close(ends[1])
            throw SystemCallError("posix_spawn \(program)", code: error.code)
        }
        Thread.detachNewThread { [process] in process.wait() }
    }

    deinit {
        process.send(SIGKILL, group: true)
        close(input)
    }

    /// Writes to the program's standard input.
    package func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(input, bytes, bytes.count)
    }

    /// Sends a signal to the process, or to its whole group, unless it has ended.
    package func send(_ signal: Int32, group: Bool = false) {
        process.send(signal, group: group)
    }

    package var exit: Exit? {
        switch process.exit {
        case .code(let code)?: .code(code)
        case .signal(let signal)?: .signal(signal)
        case nil: nil
        }
    }

    /// Waits for the process to end. After the bound it kills the group and throws ``TimedOut`` with the output.
    package func end(within bound: Duration = .seconds(60)) async throws -> Exit {
        do {
            try await waitUntil("the end of \(name)", within: bound) { exit != nil }
        } catch let error as TimedOut {
            send(SIGKILL, group: true)
            throw TimedOut("\(error.description); it wrote: \(standardOutput)\(standardError)")
        }
        return exit ?? .code(-1)
    }

    /// Standard output so far, as UTF-8.
    package var standardOutput: String { String(decoding: standardOutputData, as: UTF8.self) }

    package var standardOutputData: Data { FileManager.default.contents(atPath: output.path("stdout")) ?? Data() }

    package var standardError: String {
        String(decoding: FileManager.default.contents(atPath: output.path("stderr")) ?? Data(), as: UTF8.self)
    }

    /// Waits for a complete line on standard output with this start, and returns the rest of the line. Throws
    /// ``TimedOut`` with the output.
    package func line(startingWith start: String, within bound: Duration = .seconds(30)) async throws -> String {
        var found: String?
        try? await waitUntil("line", within: bound) {
            let running = exit == nil
            let lines = standardOutput.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            found = lines.first { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
            return found != nil || !running
        }
        guard let found else {
            let state = exit.map { "ended (\($0))" } ?? "runs"
            throw TimedOut("\"\(start)\" from \(name), which \(state); it wrote: \(standardOutput)\(standardError)")
        }
        return found
    }
}

package struct ProcessResult: Sendable {
    package let exit: ChildProcess.Exit
    package let output: String
    package let errors: String
}

package enum ProcessRunner {
    /// Runs a program and returns its output. After the bound it kills the program and throws ``TimedOut``.
    ///
    /// For `environment` and `folder`, see ``ChildProcess``.
    package static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String? = nil,
        within bound: Duration = .seconds(60)
    ) async throws -> ProcessResult {
        let process = try ChildProcess(program, arguments, environment: environment, folder: folder)
        let exit = try await process.end(within: bound)
        return ProcessResult(exit: exit, output: process.standardOutput, errors: process.standardError)
    }
}
