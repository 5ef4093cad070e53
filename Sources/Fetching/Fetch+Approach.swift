extension Fetch {
    /// What there was of a fetch when somebody came to it.
    public enum Approach: Sendable {
        /// Nothing.
        case begun
        /// Bytes of an earlier transfer, which is gone on from.
        case resumed
        /// A transfer under location.
        case joined
        /// All, though not as a piece.
        case passed
    }

    /// What there is now.
    var standing: Approach {
        if case .success = outcome { return .passed }
        if isUnderWay { return .joined }
        return written > 0 ? .resumed : .begun
    }
}
