/// An invalid setting: its source, the error and the next step.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible, Sendable {
    package enum Source: Equatable, Sendable {
        case option(String)
        case variable(String)
        /// A file, and the line number from 1 if it is known.
        case file(String, line: Int?)
    }

    package let source: Source
    package let message: String
    package let next: String?

    package init(source: Source, message: String, next: String?) {
        self.source = source
        self.message = message
        self.next = next
    }

    /// The exit code as in sysexits(3): 64 for an option, 78 for the file and the environment.
    package var exitCode: Int32 {
        if case .option = source {
            return 64
        }
        return 78
    }

    package var description: String {
        switch source {
        case .option(let name): "\(name): \(message)"
        case .variable(let name): "\(name): \(message)"
        case .file(let path, let line): "\(Self.address(path, line: line)): \(message)"
        }
    }

    /// A line of a file as editors take it: `weir.toml:3`; only the file without a line.
    static func address(_ path: String, line: Int?) -> String {
        guard let line else { return path }
        return "\(path):\(line)"
    }
}
