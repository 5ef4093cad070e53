/// What is wrong with a piece that is there. The raw values are part of what a user reads as JSON, and never change.
public enum PieceFault: String, Sendable {
    /// It has not the length that it had when it came.
    case length
    /// Its bytes are not those that came.
    case bytes
    /// The disk does not give its bytes.
    case unreadable
}

/// What reading a folder's pieces came to.
public struct PieceVerification: Sendable {
    /// The lengths of those that are as they came, by file name. What came while the others were read, and what had no line
    /// until now, is among them.
    public internal(set) var sound: [String: Int64] = [:]
    /// Those that are not. They are set aside already, where the store can be written.
    public internal(set) var faults: [String: PieceFault] = [:]
    /// How many had no line, and get one.
    public internal(set) var adopted = 0
    /// Whether all were read: not where it was given up.
    public internal(set) var isComplete = false
}
