/// One playback. It begins when a player loads an entry playlist, and its id is part of every URL in that playlist.
struct Session: Equatable {
    /// Decides if and how the origin is asked.
    enum Mode: Character {
        /// Missing resources are streamed from the origin while it can be reached.
        case auto = "a"
        /// The session never uses the network.
        case offline = "o"
        /// Only complete renditions are listed, if there are any; otherwise as `auto`.
        case local = "l"
        /// One variant is listed, and Weir chooses the quality of each of its segments; otherwise as `auto`.
        case adaptive = "v"
    }

    /// The mode's letter and five random ones. The id in the URL is the whole state of a session, so a session survives
    /// a restart.
    let id: String
    let mode: Mode

    private static let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")

    /// Makes a session with a new id.
    init(_ mode: Mode) {
        self.mode = mode
        id = String(mode.rawValue) + String((0..<5).compactMap { _ in Self.alphabet.randomElement() })
    }

    /// Parses a session id from a URL; nil if it is not valid.
    init?(id: String) {
        guard id.utf8.count == 6, let letter = id.first, let mode = Mode(rawValue: letter) else { return nil }
        self.id = id
        self.mode = mode
    }
}

extension Session.Mode {
    /// The mode to use if there is only one quality.
    var plain: Self { self == .adaptive ? .auto : self }
}
