extension API {
    /// An error as `application/problem+json` (RFC 9457).
    public struct Problem: Codable, Equatable, Sendable {
        /// What kind of thing went wrong; for programs.
        public var code: ControlError.Code
        /// The HTTP status, as in the response.
        public var status: Int
        /// The kind in words; the same for every problem of one code.
        public var title: String
        /// This case: names the asset and the cause. A sentence without a full stop.
        public var detail: String
        /// What to try next, as a sentence or a command line.
        public var next: String?

        /// The problem that an error is to a client.
        public init(_ error: ControlError) {
            code = error.code
            status = error.code.status
            title = error.code.title
            detail = error.message
            next = error.next
        }
    }
}
