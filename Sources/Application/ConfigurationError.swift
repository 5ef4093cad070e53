/// An invalid setting: its place, the error and the next step.
public struct ConfigurationError: Error, Equatable, CustomStringConvertible, Sendable {
    /// Place of a setting.
    public enum Place: Equatable, Sendable {
        /// A command-line option, with its dashes.
        case option(String)
        /// An environment variable.
        case variable(String)
        /// A file, and the line number from 1 if it is known.
        case file(String, line: Int?)
    }

    /// Place of the setting.
    public let place: Place
    /// The error; follows the place in the message.
    public let message: String
    /// Next step.
    public let next: String?

    /// The exit code as in sysexits(3): 64 for an option, 78 for other places.
    public var exitCode: Int32 {
        if case .option = place { return 64 }
        return 78
    }

    /// One sentence: place and message.
    public var description: String {
        switch place {
        case .option(let name): "\(name): \(message)"
        case .variable(let name): "\(name): \(message)"
        case .file(let path, let line): path + (line.map { ":\($0)" } ?? "") + ": \(message)"
        }
    }

    static func unknownKey(_ name: String, place: Place) -> ConfigurationError {
        let missing = "there is no key \"\(name)\""
        if let nearest = ConfigurationKey.nearest(to: name) {
            return ConfigurationError(
                place: place, message: "\(missing); did you mean \"\(nearest.rawValue)\"?",
                next: "correct the key, or take the line out")
        }
        let keys = ConfigurationKey.allCases.map(\.rawValue).joined(separator: ", ")
        return ConfigurationError(place: place, message: missing, next: "take the line out; the keys are \(keys)")
    }
}
