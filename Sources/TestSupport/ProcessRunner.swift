/// What a program that ran to its end left behind.
public struct ProcessResult: Sendable {
    /// How it ended.
    public let exit: ChildProcess.Exit
    /// All of its standard output, as UTF-8.
    public let output: String
    /// All of its standard error, as UTF-8.
    public let errors: String
}

/// Runs programs to their end.
public enum ProcessRunner {
    /// Runs a program and gives what it wrote; when it is not done within the bound it is killed and ``TimedOut``
    /// thrown.
    ///
    /// `environment` and `folder` are those of ``ChildProcess``.
    public static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String? = nil,
        within bound: Duration = .seconds(60)
    ) async throws -> ProcessResult {
        let process = try ChildProcess(program, arguments, environment: environment, folder: folder)
        let exit = try await process.end(within: bound)
        return ProcessResult(exit: exit, output: process.standardOutput, errors: process.standardError)
    }
}
