/// One thing that the doctor looked at, and what it found.
public struct Finding: Codable, Equatable, Sendable {
    /// Grade of the finding.
    public enum Grade: String, Codable, Sendable {
        /// As it should be.
        case ok
        /// Weir runs, but something does not work, or not as well as it could.
        case warning
        /// Weir does not run, or does not keep what it should.
        case fault
    }

    /// Subject of the check in a word or two; not unique.
    public let subject: String
    /// Grade of the finding.
    public let grade: Grade
    /// The finding and its consequence; a sentence without a capital or a full stop.
    public let message: String
    /// Next step; an optional improvement if nothing is wrong.
    public let next: String?

    static func ok(_ subject: String, _ message: String, next: String? = nil) -> Finding {
        Finding(subject: subject, grade: .ok, message: message, next: next)
    }

    static func warning(_ subject: String, _ message: String, next: String) -> Finding {
        Finding(subject: subject, grade: .warning, message: message, next: next)
    }

    static func fault(_ subject: String, _ message: String, next: String) -> Finding {
        Finding(subject: subject, grade: .fault, message: message, next: next)
    }
}
