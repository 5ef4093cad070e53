/// Whether, and how, origins are asked, for the whole process. A session may have a stricter one of its own.
public enum PlayMode: String, CaseIterable, Sendable {
    /// The origin streams what is missing, as long as it can be reached.
    case auto
    /// No socket is opened and no name is looked up.
    case offline
    /// As `auto`, but where something is stored whole, only that is listed.
    case local
}
