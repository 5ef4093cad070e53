extension API {
    /// An error as `application/problem+json` (RFC 9457); `code` and `next` are members of our own.
    public struct Problem: Codable, Equatable, Sendable {
        /// The kind as a URI reference: the place in the API's own document where it is explained. A
        /// reader does without it (RFC 9457 §3.1.1).
        public var type: String?
        /// What kind of thing went wrong; for programs.
        public var code: APIError.Code
        /// The HTTP status, as in the response.
        public var status: Int
        /// The kind in words; the same for every problem of one code.
        public var title: String
        /// This case: names the asset and the cause. A sentence without a full stop.
        public var detail: String
        /// What to try next, as a sentence or a command line.
        public var next: String?

        /// The problem that an error is to a client.
        public init(_ error: APIError) {
            type = "\(API.root)/openapi.json#\(error.code.rawValue)"
            code = error.code
            status = error.code.status
            title = error.code.title
            detail = error.message
            next = error.next
        }
    }
}
