/// Controls how origins are contacted, for the whole process. A session may have a stricter mode of its own.
public enum PlayMode: String, Codable, CaseIterable, Sendable {
    /// The origin supplies missing resources, as long as it can be reached.
    case auto
    /// No socket is opened and no name is looked up.
    case offline
    /// As `auto`, but if something is stored completely, only that is listed.
    case local
}
