/// Where work on an asset is that goes on for a while: a verification, a publication, a move.
public enum JobState: Sendable {
    /// It goes on.
    case running
    /// What a verification has found missing is fetched.
    case repairing
    /// It has come to its end.
    case done
    /// Somebody gave it up.
    case cancelled
    /// Something kept it from its end, and says what.
    case failed

    /// Whether nothing more happens.
    public var isFinal: Bool { self != .running && self != .repairing }
}
