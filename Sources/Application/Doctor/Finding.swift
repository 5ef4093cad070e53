/// The result of one check.
public struct Finding: Codable, Equatable, Sendable {
    /// Grade of the finding.
    public enum Grade: String, Codable, Sendable {
        /// No problem.
        case ok
        /// Weir runs, but something does not work or could work better.
        case warning
        /// Weir does not run, or does not store what it should.
        case fault
    }

    /// The subject of the check in one or two words; not unique.
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
