/// Which part of a representation a GET or HEAD asks for, once its conditions are weighed (RFC 9110 §13.2.2, §14.2).
public enum RepresentationSelection: Sendable, Hashable {
    /// 304: the client has it.
    case notModified
    /// 200 with everything.
    case whole
    /// 206 with these bytes.
    case part(Range<Int64>)
    /// 416: there is no such part.
    case unsatisfiable

    /// Weighs the request against what is known.
    ///
    /// `size` is nil while the representation is still on its way with its end unknown: a range cannot be placed then,
    /// and everything is sent.
    public init(for head: RequestHead, size: Int64?, entityTag: EntityTag?, lastModified: HTTPDate?) {
        if Self.isUnmodified(head, entityTag, lastModified) {
            self = .notModified
            return
        }
        // Range is defined for GET alone; on HEAD it is ignored (RFC 9110 §14.2).
        guard head.method == .get, let size, let value = head.onlyValue(of: .range), let range = ByteRange(value),
            Self.mayUseRange(head, entityTag, lastModified)
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

    /// If-None-Match, and If-Modified-Since only without it.
    private static func isUnmodified(_ head: RequestHead, _ entityTag: EntityTag?, _ lastModified: HTTPDate?) -> Bool {
        if head.contains(.ifNoneMatch) {
            guard let entityTag, let list = head[.ifNoneMatch] else { return false }
            return entityTag.isNamed(inList: list.utf8)
        }
        guard let lastModified, let since = head.onlyValue(of: .ifModifiedSince).flatMap({ HTTPDate($0) }) else {
            return false
        }
        return lastModified <= since
    }

    /// If-Range: without it a range may be used; with it only when it names the very bytes that are here.
    private static func mayUseRange(_ head: RequestHead, _ entityTag: EntityTag?, _ lastModified: HTTPDate?) -> Bool {
        guard head.contains(.ifRange) else { return true }
        guard let value = head.onlyValue(of: .ifRange) else { return false }
        if let named = EntityTag(fieldValue: value) {
            return entityTag?.matchesStrongly(named) ?? false
        }
        guard let date = HTTPDate(value) else { return false }
        return lastModified == date
    }
}
