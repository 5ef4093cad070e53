/// The part of a representation that a GET or HEAD selects after its conditions are evaluated (RFC 9110 §13.2.2, §14.2).
public enum RepresentationSelection: Sendable, Hashable {
    /// 304: the client's copy is current.
    case notModified
    /// 200 with the whole representation.
    case whole
    /// 206 with these bytes.
    case part(Range<Int64>)
    /// 416: the range is outside the representation.
    case unsatisfiable

    /// Evaluates the request's conditions and range.
    /// - Parameter size: nil while the body is growing and its size is unknown. A range cannot be placed then, so the
    ///   whole is sent.
    public init(for head: RequestHead, size: Int64?, entityTag: EntityTag?, lastModified: HTTPDate?) {
        if Self.isUnmodified(head, entityTag: entityTag, lastModified: lastModified) {
            self = .notModified
            return
        }
        // Range is defined for GET only; on HEAD it is ignored (RFC 9110 §14.2).
        guard head.method == .get, let size, let value = head.onlyValue(of: .range), let range = ByteRange(value),
            Self.mayUseRange(head, entityTag: entityTag, lastModified: lastModified)
        else {
            self = .whole
            return
        }
        if let bytes = range.resolved(size: size) {
            self = .part(bytes)
        } else {
            self = .unsatisfiable
        }
    }

    /// Evaluates If-None-Match, and If-Modified-Since only without it.
    private static func isUnmodified(_ head: RequestHead, entityTag: EntityTag?, lastModified: HTTPDate?) -> Bool {
        if head.contains(.ifNoneMatch) {
            guard let entityTag, let list = head[.ifNoneMatch] else { return false }
            return entityTag.isNamed(inList: list.utf8)
        }
        guard let lastModified, let since = head.onlyValue(of: .ifModifiedSince).flatMap({ HTTPDate($0) }) else {
            return false
        }
        return lastModified <= since
    }

    /// Evaluates If-Range: a range may be used without it, or if it names exactly the current bytes.
    private static func mayUseRange(_ head: RequestHead, entityTag: EntityTag?, lastModified: HTTPDate?) -> Bool {
        guard head.contains(.ifRange) else { return true }
        guard let value = head.onlyValue(of: .ifRange) else { return false }
        if let named = EntityTag(fieldValue: value) {
            return entityTag?.matchesStrongly(named) ?? false
        }
        guard let date = HTTPDate(value) else { return false }
        return lastModified == date
    }
}
