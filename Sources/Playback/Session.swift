/// One playback: begins when a player loads an entry playlist, and is part of every URL in it.
struct Session: Equatable {
    /// Whether, and how, the origin is asked.
    enum Mode: Character {
        /// The origin streams what is missing, as long as it can be reached.
        case auto = "a"
        /// This session never touches the network.
        case offline = "o"
        /// What is stored whole is listed alone, where there is such; else as `auto`.
        case local = "l"
        /// One variant is listed, and Weir chooses the quality of each of its segments; else as `auto`.
        case adaptive = "v"
    }

    /// In URLs: the mode's letter and five random ones. It is all there is to a session, so it outlives the process.
    let id: String
    /// How it plays.
    let mode: Mode

    private static let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")

    /// A new session.
    init(_ mode: Mode) {
        self.mode = mode
        id = String(mode.rawValue) + String((0..<5).compactMap { _ in Self.alphabet.randomElement() })
    }

    /// The session that a URL names; nil for what is no session's id.
    init?(id: String) {
        guard id.utf8.count == 6, let letter = id.first, let mode = Mode(rawValue: letter) else { return nil }
        self.id = id
        self.mode = mode
    }
}

extension Session.Mode {
    /// The mode of what leaves Weir nothing to choose.
    var plain: Self { self == .adaptive ? .auto : self }
}
