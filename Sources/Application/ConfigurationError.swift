/// A setting that cannot be used: where it stands, what is wrong with it, and what to do.
public struct ConfigurationError: Error, Equatable, CustomStringConvertible, Sendable {
    /// Place of a setting.
    public enum Place: Equatable, Sendable {
        /// An option of the command line, with its dashes.
        case option(String)
        /// An environment variable.
        case variable(String)
        /// A file, and the line in it, from 1, as far as known.
        case file(String, line: Int?)
    }

    /// Place of the setting.
    public let place: Place
    /// The error; follows the place in the message.
    public let message: String
    /// Next step.
    public let next: String?

    /// As in sysexits(3): 64 for what was typed as an option, 78 for the rest.
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
