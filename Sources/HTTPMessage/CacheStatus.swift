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
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "Weir".utf8)
        if isHit {
            bytes.append(contentsOf: "; hit".utf8)
        }
        if let forward {
            bytes.append(contentsOf: "; fwd=".utf8)
            bytes.append(contentsOf: forward.rawValue.utf8)
        }
        if let forwardStatus {
            bytes.append(contentsOf: "; fwd-status=".utf8)
            bytes.append(decimal: Int64(forwardStatus.code))
        }
        if isStored {
            bytes.append(contentsOf: "; stored".utf8)
        }
        if isCollapsed {
            bytes.append(contentsOf: "; collapsed".utf8)
        }
        if let detail {
            bytes.append(contentsOf: "; detail=".utf8)
            bytes.append(contentsOf: Self.quoted(detail).utf8)
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
