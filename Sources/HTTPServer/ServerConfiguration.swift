public import HTTPMessage

extension HTTPServer {
    /// The server's limits and access rules. Each limit's default is defined here only.
    public struct Configuration: Sendable {
        /// Limits on the request line, header section, field count and body.
        public var request = RequestLimits()
        /// Longest body of a request for which `admitsLongBody` returns true; other requests have the limit of
        /// `request`.
        public var longBody: Int64 = 4 << 20
        /// True if a request with this head may have a long body. Called before the server stores a byte of the body.
        /// Set before the server is created.
        public var admitsLongBody: @Sendable (RequestHead) -> Bool = { _ in false }
        /// Most open connections. At the limit, the longest idle connection is closed for a new one; without an idle
        /// one, the new connection gets 503.
        public var connections = 256
        /// Most connections from one address that is not a loopback address.
        public var connectionsPerPeer = 32
        /// True if `connectionsPerPeer` applies to loopback addresses too.
        public var limitsLoopback = false
        /// Most requests per connection; it is closed after the last reply.
        public var requestsPerConnection = 1_000
        /// From a request's first byte to the end of its head; then 408.
        public var headTimeout: Duration = .seconds(10)
        /// Longest wait for the next request, or for a body.
        public var idleTimeout: Duration = .seconds(60)
        /// Longest time in which the client reads nothing of a reply.
        public var writeTimeout: Duration = .seconds(60)
        /// Longest wait for a client to close after a refusal, so that it can read the reason.
        public var lingerTimeout: Duration = .seconds(2)
        /// Names allowed in Host, without port, besides localhost, the loopback addresses and the socket's own.
        public var hostNames: [String] = []
        /// Origins of web pages that may send requests from a browser, as `scheme://host:port`.
        public var allowedOrigins: [String] = []

        /// The reply to a request that is refused before its handler: fields and body, from the head, the status and a
        /// sentence; nil sends the sentence as text. Set before the server is created.
        public var refusal: @Sendable (RequestHead, HTTPStatus, String) -> (fields: ResponseHead, body: [UInt8])? = {
            _, _, _ in nil
        }

        /// The default limits, without additional names or origins.
        public init() {}

        /// The interval of deadline checks: at most a quarter of the shortest deadline, so that none is late by more.
        var tick: Duration {
            let shortest = min(headTimeout, idleTimeout, writeTimeout, lingerTimeout)
            return max(.milliseconds(10), min(.seconds(1), shortest / 4))
        }
    }
}
