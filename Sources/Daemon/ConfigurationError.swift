/// An invalid setting: its place, the error and the next step.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible, Sendable {
    package enum Place: Equatable, Sendable {
        case option(String)
        case variable(String)
        /// A file, and the line number from 1 if it is known.
        case file(String, line: Int?)
    }

    package let place: Place
    package let message: String
    package let next: String?

    package init(place: Place, message: String, next: String?) {
        self.place = place
        self.message = message
        self.next = next
    }

    /// The exit code as in sysexits(3): 64 for an option, 78 for other places.
    package var exitCode: Int32 {
        if case .option = place {
            return 64
        }
        return 78
    }

    package var description: String {
        switch place {
        case .option(let name): "\(name): \(message)"
        case .variable(let name): "\(name): \(message)"
        case .file(let path, let line): path + (line.map { ":\($0)" } ?? "") + ": \(message)"
        }
    }

    static func unknownKey(_ name: String, place: Place) -> ConfigurationError {
        let missing = "there is no key \"\(name)\""
        if let nearest = Configuration.Key.nearest(to: name) {
            return ConfigurationError(
                place: place, message: "\(missing); did you mean \"\(nearest.rawValue)\"?",
                next: "correct the key, or delete the line")
        }
        let keys = Configuration.Key.allCases.map(\.rawValue).joined(separator: ", ")
        return ConfigurationError(place: place, message: missing, next: "delete the line; the keys are \(keys)")
    }
}
