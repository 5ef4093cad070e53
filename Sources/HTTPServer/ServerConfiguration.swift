public import HTTPMessage

extension HTTPServer {
    /// Whom the server talks to, and what one peer may cost. Each limit has its default here and nowhere else.
    public struct Configuration: Sendable {
        /// Size of a request: line, header section, field count, body.
        public var request = RequestLimits()
        /// Longest body of a request that `admitsLongBody`; others have the limit of `request`.
        public var longBody: Int64 = 4 << 20
        /// Whether a request, of which there is the head alone, may have a long body: asked before a byte of that is
        /// kept.
        public var admitsLongBody: @Sendable (RequestHead) -> Bool = { _ in false }
        /// Most connections at a time. At the limit the connection that has been idle longest makes room; when none is
        /// idle, the new one is answered 503.
        public var connections = 256
        /// Most connections from one address that is not a loopback address.
        public var connectionsPerPeer = 32
        /// Whether that holds for loopback addresses as well.
        public var limitsLoopback = false
        /// Most requests on one connection, which is then closed behind its last reply.
        public var requestsPerConnection = 1_000
        /// From a request's first byte to the end of its head; beyond it 408.
        public var headTimeout: Duration = .seconds(10)
        /// Between a reply and the next request, or for a body to arrive.
        public var idleTimeout: Duration = .seconds(60)
        /// Without the client taking a single byte of a reply.
        public var writeTimeout: Duration = .seconds(60)
        /// For a client to close after a refusal, so that it can read why.
        public var lingerTimeout: Duration = .seconds(2)
        /// Names, beside localhost, the loopback addresses and the socket's own, that may stand in Host. Without port.
        public var hostNames: [String] = []
        /// Origins of web pages that may ask from a browser, as `scheme://host:port`.
        public var allowedOrigins: [String] = []

        /// What a client is told that is refused before the handler sees its request, given the request's head, the status
        /// and a sentence: fields and a body, or nil for the sentence as text.
        public var refusal: @Sendable (RequestHead, HTTPStatus, String) -> (fields: ResponseHead, body: [UInt8])? = {
            _, _, _ in nil
        }

        /// The limits that Weir ships with, and no foreign names or origins.
        public init() {}

        /// How often deadlines are looked at: often enough to be late by a quarter of the shortest at most.
        var tick: Duration {
            let shortest = min(headTimeout, idleTimeout, writeTimeout, lingerTimeout)
            return max(.milliseconds(10), min(.seconds(1), shortest / 4))
        }
    }
}
