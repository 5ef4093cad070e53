/// One thing that the doctor looked at, and what it found.
public struct Finding: Codable, Equatable, Sendable {
    /// How bad it is.
    public enum Grade: String, Codable, Sendable {
        /// As it should be.
        case ok
        /// Weir runs, but something does not work, or not as well as it could.
        case warning
        /// Weir does not run, or does not keep what it should.
        case fault
    }

    /// What was looked at, in a word or two; some come more than once.
    public let subject: String
    /// How bad it is.
    public let grade: Grade
    /// What was found, and why it matters; a sentence without a capital or a full stop.
    public let message: String
    /// What to do about it; what else could be done where nothing is wrong.
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
