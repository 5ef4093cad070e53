import HTTPMessage

/// The words in which the state machine and its shell speak.
extension TransferState {
    /// The number of bytes that are fetched again and compared, where nothing else shows that the rest of a body belongs to its
    /// beginning.
    static let comparedOverlap: Int64 = 64 * 1024

    struct Attempt: Equatable {
        let url: WebURL
        /// The first and last byte to request; nil for no Range, a nil last byte for everything that follows.
        var range: (first: Int64, last: Int64?)?
        var ifRange: StrongValidator?
        var manner = Manner()
        var rangeValue: String? { range.map { "bytes=\($0.first)-\($0.last.map(String.init) ?? "")" } }

        static func == (left: Attempt, right: Attempt) -> Bool {
            (left.url, left.rangeValue, left.ifRange, left.manner)
                == (right.url, right.rangeValue, right.ifRange, right.manner)
        }
    }

    /// The way in which an attempt reads the body.
    struct Manner: Hashable {
        /// True to undo content codings; false once a body was not what its Content-Encoding says.
        var decodes = true
        /// True to read until the connection ends, because the stated length was too small.
        var ignoresLength = false
        /// True once HTTP/2 has failed.
        var avoidsHTTP2 = false
        /// True once a reply has shown that the fault may be the connection's.
        var isOnNewConnection = false
        /// True to answer the origin's challenge by Digest with the user name and password of Basic.
        var usesDigest = false
        /// True to answer the proxy's challenge by the scheme that it offers, Digest or Basic.
        var asksProxyForScheme = false
        /// True if HTTP/2 may be offered. There a connection does not end with a body.
        var allowsHTTP2: Bool { !avoidsHTTP2 && !ignoresLength }
    }

    enum Action: Equatable {
        case send(Attempt)
        /// Call `pauseEnded()` after this time.
        case wait(Duration)
        case end(OriginError?)
    }

    enum Reaction {
        /// Deliver it, unless one was delivered before, and then the body.
        case deliver(OriginHead?)
        /// Read the body to its end without delivering it, to keep the connection.
        case skip
        case stop
    }

    enum Delivery: Equatable {
        case at(Int64)
        /// Deliver the first `count` bytes, the last ones of the target, and abort the request: the reply is longer, or its
        /// framing does not show the end.
        case last(Int64, count: Int)
        case skip
        case stop
    }

    enum Outcome: Equatable {
        /// Complete by HTTP's framing.
        case finished
        /// Complete by the stated length, but more bytes followed.
        case exceeded
        /// Aborted by the shell, as this state requested.
        case stopped
        case failed(Failure)

        /// See `Failure.hasInvalidLength`.
        var hasInvalidLength: Bool {
            if case .failed(let failure) = self {
                failure.hasInvalidLength
            } else {
                false
            }
        }
    }

    struct Failure: Equatable {
        var code: OriginError.Code
        var underlying: String?
        var isTransient = true
        /// True if a proxy requires credentials, or others (407).
        var isRefusedByProxy = false
        /// True if that proxy takes credentials by Digest.
        var isDigestOffered = false
        /// Set if the host could not be reached, and that may be its own fault.
        var hostFault: HostReach.Fault?
        /// True if the Content-Length is no number, or not that of the stream of HTTP/2, so that only the end of the connection
        /// shows the end of the body.
        var hasInvalidLength = false
        /// Set if HTTP/2 itself failed.
        var http2Fault: HTTPVersions.Fault?
    }
}
