import HTTPMessage

/// The delimiter of a reply's body (RFC 9112 §6.3), and the connection's persistence after it.
struct ReplyFraming: Equatable {
    /// Marks the end of the body for the client.
    enum Delimiter: Equatable {
        /// No body and no field about one (204, 304).
        case absent
        /// Content-Length.
        case length(Int64)
        /// Transfer-Encoding: chunked.
        case chunks
        /// Connection close: HTTP/1.0 has no chunks.
        case close
    }

    let delimiter: Delimiter
    /// False for HEAD, and if the status forbids a body.
    let sendsBody: Bool
    let keepsConnection: Bool

    /// - Parameters:
    ///   - length: the body's; nil if it is not known yet.
    ///   - mayKeep: client and server both want a persistent connection.
    init(method: HTTPMethod, version: HTTPVersion, status: HTTPStatus, length: Int64?, mayKeep: Bool) {
        if status.forbidsBody {
            (delimiter, sendsBody, keepsConnection) = (.absent, false, mayKeep)
        } else if let length {
            (delimiter, sendsBody, keepsConnection) = (.length(length), method != .head && length > 0, mayKeep)
        } else if method == .head {
            (delimiter, sendsBody, keepsConnection) = (.absent, false, mayKeep)
        } else if version == .http11 {
            (delimiter, sendsBody, keepsConnection) = (.chunks, true, mayKeep)
        } else {
            (delimiter, sendsBody, keepsConnection) = (.close, true, false)
        }
    }
}
