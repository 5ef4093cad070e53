/// The request methods that Weir supports (RFC 9110 §9, RFC 5789). Names are case-sensitive; any other is answered 501.
public enum HTTPMethod: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case options = "OPTIONS"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"

    /// True if a request with this method may have a body.
    ///
    /// A body on the other methods is refused, because it has no defined meaning (RFC 9110 §9.3.1).
    public var mayHaveBody: Bool {
        switch self {
        case .get, .head, .options: false
        case .post, .put, .patch, .delete: true
        }
    }

    init?(_ name: UnsafeRawBufferPointer) {
        guard name.count <= 8 else { return nil }
        var packed: UInt64 = 0
        for byte in name {
            packed = packed << 8 | UInt64(byte)
        }
        switch packed {
        case 0x47_4554: self = .get
        case 0x4845_4144: self = .head
        case 0x4F_5054_494F_4E53: self = .options
        case 0x504F_5354: self = .post
        case 0x50_5554: self = .put
        case 0x50_4154_4348: self = .patch
        case 0x4445_4C45_5445: self = .delete
        default: return nil
        }
    }
}

/// The versions of HTTP/1 (RFC 9112 §2.3). A higher minor version counts as 1.1; another major version is an error.
public enum HTTPVersion: Sendable, Hashable {
    case http10, http11
}
