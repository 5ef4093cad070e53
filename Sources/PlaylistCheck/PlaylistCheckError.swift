/// The reason why a playlist could not be checked.
public struct PlaylistCheckError: Error, CustomStringConvertible, Sendable {
    /// The kind of error.
    public enum Code: Sendable {
        /// The text is not an http or https URL.
        case invalidURL
        /// The file cannot be read.
        case unreadableFile
        /// The body is larger than a playlist may be.
        case tooLarge
        /// The origin answered 404 for the entry.
        case notFound
        /// Any other error of the origin: `underlying` is an `OriginError`.
        case origin
    }

    /// The kind of error.
    public let code: Code
    /// A sentence for the user, without secrets.
    public let message: String
    /// The error of the room below, if there was one.
    public let underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// The sentence.
    public var description: String { message }
}
