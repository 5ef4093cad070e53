/// What Weir writes into Cache-Status (RFC 9211): how one response came about.
public struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
    /// Why a request went to the origin (RFC 9211 §2.2).
    public enum Forward: String, Sendable, Hashable {
        /// Nothing of that name is stored.
        case uriMiss = "uri-miss"
        /// Stored, but too old to be used without asking.
        case stale
        /// Stored, but not all of what was asked for.
        case partial
        /// The client wanted it from the origin.
        case request
        /// This is never kept.
        case bypass
    }

    /// Served from what is stored, without the origin.
    public var isHit = false
    /// Why the origin was asked; nil for a hit.
    public var forward: Forward?
    /// The origin's status, where it differs from ours.
    public var forwardStatus: HTTPStatus?
    /// Whether the origin's answer is being kept.
    public var isStored = false
    /// Whether this request shared another one's transfer.
    public var isCollapsed = false
    /// A word for people who read captures.
    ///
    /// Characters outside printable ASCII are left out.
    public var detail: String?

    /// From the store.
    public static var hit: CacheStatus {
        var status = CacheStatus()
        status.isHit = true
        return status
    }

    /// From the origin.
    public static func forwarded(_ reason: Forward, isStored: Bool, isCollapsed: Bool = false) -> CacheStatus {
        var status = CacheStatus()
        status.forward = reason
        status.isStored = isStored
        status.isCollapsed = isCollapsed
        return status
    }

    /// A status of which nothing is known yet.
    public init() {}

    /// The field's value.
    public var description: String {
        var text = "Weir"
        if isHit { text += "; hit" }
        if let forward { text += "; fwd=\(forward.rawValue)" }
        if let forwardStatus { text += "; fwd-status=\(forwardStatus.code)" }
        if isStored { text += "; stored" }
        if isCollapsed { text += "; collapsed" }
        if let detail { text += "; detail=\(Self.quoted(detail))" }
        return text
    }

    /// Appends the field's value.
    func append(to bytes: inout [UInt8]) {
        if self == .hit {
            bytes.append(contentsOf: "Weir; hit".utf8)  // By far the most frequent.
        } else {
            bytes.append(contentsOf: description.utf8)
        }
    }

    /// An sf-string (RFC 8941 §3.3.3).
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value < 0x7F {
            if scalar == "\"" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}
