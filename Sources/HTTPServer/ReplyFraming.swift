import HTTPMessage

/// How a reply's end can be told (RFC 9112 §6.3), and whether the connection outlives it.
struct ReplyFraming: Equatable {
    /// What the client finds the body's end by.
    enum Delimiter: Equatable {
        /// There is no body and no field about one (204, 304).
        case absent
        /// Content-Length.
        case length(Int64)
        /// Transfer-Encoding: chunked.
        case chunks
        /// The connection's end: HTTP/1.0 knows no chunks.
        case close
    }

    let delimiter: Delimiter
    /// False for HEAD, and where the status forbids a body.
    let sendsBody: Bool
    let keepsConnection: Bool

    /// `length` is the body's, nil when it is not known yet; `wantsKeep` is what client and server would like.
    init(method: HTTPMethod, version: HTTPVersion, status: HTTPStatus, length: Int64?, wantsKeep: Bool) {
        if status.forbidsBody {
            (delimiter, sendsBody, keepsConnection) = (.absent, false, wantsKeep)
        } else if let length {
            (delimiter, sendsBody, keepsConnection) = (.length(length), method != .head && length > 0, wantsKeep)
        } else if method == .head {
            (delimiter, sendsBody, keepsConnection) = (.absent, false, wantsKeep)
        } else if version == .http11 {
            (delimiter, sendsBody, keepsConnection) = (.chunks, true, wantsKeep)
        } else {
            (delimiter, sendsBody, keepsConnection) = (.close, true, false)
        }
    }
}
