/// Where work on an asset is that goes on for a while: a verification, a publication, a move. The raw values are what a user
/// reads as JSON.
public enum JobState: String, Sendable {
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
