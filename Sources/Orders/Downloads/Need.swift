/// A condition that a download waits for. The raw values are in the catalogue and in the API, and never change.
package enum Need: String, Codable, Sendable, CaseIterable {
    /// An origin that can be reached and answers.
    case network
    case space
    /// A key that the origin refuses to deliver.
    case key
    /// The volume on which the asset is stored.
    case volume
    /// The hours in which downloads may run.
    case hours
    /// A network that is not metered.
    case metered
    /// Mains power, or enough charge.
    case power
    /// A machine that nobody uses.
    case idle

    /// Reads the name in a catalogue; nil for an unknown one. Earlier catalogues call the volume `disk`.
    package init?(stored name: String) {
        guard name != "disk" else {
            self = .volume
            return
        }
        self.init(rawValue: name)
    }

    /// True if a rule of the user is the reason.
    package var isRule: Bool {
        switch self {
        case .hours, .metered, .power, .idle: true
        case .network, .space, .key, .volume: false
        }
    }

    /// The condition as the object of "waiting for".
    package var words: String {
        switch self {
        case .network: "the network"
        case .space: "space"
        case .key: "a key"
        case .volume: "its disk"
        case .hours: "its hours"
        case .metered: "a network that is not metered"
        case .power: "power"
        case .idle: "an idle machine"
        }
    }
}
