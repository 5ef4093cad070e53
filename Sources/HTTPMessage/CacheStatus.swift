/// The Cache-Status that Weir writes (RFC 9211): how it produced a response.
public struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
    /// The reason to forward a request (RFC 9211 §2.2).
    public enum Forward: String, Sendable, Hashable {
        /// Nothing is stored under this URI.
        case uriMiss = "uri-miss"
        /// Stored, but too old to use without revalidation.
        case stale
        /// Stored, but not every requested byte.
        case partial
        /// The client asked for the origin's copy.
        case request
        /// The resource is never cached.
        case bypass
    }

    /// True if the response came from the store, without the origin.
    public var isHit = false
    /// Why the request was forwarded; nil for a hit.
    public var forward: Forward?
    /// The origin's status where it differs from the response's.
    public var forwardStatus: HTTPStatus?
    /// True if the origin's response is being stored.
    public var isStored = false
    /// True if this request shared another one's fetch (request collapsing).
    public var isCollapsed = false
    /// A short explanation for people who read captures. Characters outside printable ASCII are left out.
    public var detail: String?

    /// Makes a status, empty by default.
    public init(isHit: Bool = false, forward: Forward? = nil, isStored: Bool = false, isCollapsed: Bool = false) {
        self.isHit = isHit
        self.forward = forward
        self.isStored = isStored
        self.isCollapsed = isCollapsed
    }

    /// A response from the store.
    public static var hit: CacheStatus { CacheStatus(isHit: true) }

    /// A response from the origin.
    public static func forwarded(_ reason: Forward, isStored: Bool, isCollapsed: Bool = false) -> CacheStatus {
        CacheStatus(forward: reason, isStored: isStored, isCollapsed: isCollapsed)
    }

    /// The field's value.
    public var description: String {
        var text = "Weir"
        if isHit {
            text += "; hit"
        }
        if let forward {
            text += "; fwd=\(forward.rawValue)"
        }
        if let forwardStatus {
            text += "; fwd-status=\(forwardStatus.code)"
        }
        if isStored {
            text += "; stored"
        }
        if isCollapsed {
            text += "; collapsed"
        }
        if let detail {
            text += "; detail=\(Self.quoted(detail))"
        }
        return text
    }

    func append(to bytes: inout [UInt8]) {
        if self == .hit {
            bytes.append(contentsOf: "Weir; hit".utf8)  // The most frequent value by far.
        } else {
            bytes.append(contentsOf: description.utf8)
        }
    }

    /// An sf-string (RFC 8941 §3.3.3).
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value < 0x7F {
            if scalar == "\"" || scalar == "\\" {
                result += "\\"
            }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}
