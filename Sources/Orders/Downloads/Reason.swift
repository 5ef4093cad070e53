/// A reason why a download does not go on.
package struct Reason: Codable, Equatable, Sendable {
    /// The origin of a reason; as text `user`, or the name of a need.
    package enum Kind: Equatable, Sendable {
        /// The user's own reason for a pause.
        case user
        /// A condition that is not met.
        case need(Need)
    }

    package var kind: Kind
    /// A sentence without a capital or a full stop, or the user's own words.
    package var message: String

    package init(kind: Kind, message: String) {
        self.kind = kind
        self.message = message
    }

    package init(_ need: Need, _ message: String) { self.init(kind: .need(need), message: message) }

    /// The condition that is not met; nil for the user's own reason.
    package var need: Need? {
        switch kind {
        case .user: nil
        case .need(let need): need
        }
    }
}

extension Reason.Kind: RawRepresentable, Codable {
    package init?(rawValue: String) {
        if rawValue == "user" {
            self = .user
        } else if let need = Need(rawValue: rawValue) {
            self = .need(need)
        } else {
            return nil
        }
    }

    package var rawValue: String {
        switch self {
        case .user: "user"
        case .need(let need): need.rawValue
        }
    }
}
