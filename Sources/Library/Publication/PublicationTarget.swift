import HTTPMessage

/// Where a publication goes, as a person writes it. Pure.
public enum PublicationTarget: Equatable, Sendable {
    /// A place in a bucket of an object store with S3's API. The prefix has no `/` at its ends, and is empty for the
    /// bucket's top.
    case bucket(String, prefix: String)
    /// A folder on the daemon's disk, by its absolute path.
    case folder(String)
    /// What the program rsync knows: `rsync://HOST/MODULE/PATH`, or `HOST:PATH`.
    case rsync(String)

    /// Reads what was written.
    ///
    /// - Throws: `badTarget` with the reason.
    public init(_ text: String) throws(LibraryError) {
        guard !text.isEmpty, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw LibraryError(.badTarget, "that is no place to publish to")
        }
        if text.hasPrefix("s3://") {
            self = try Self.bucket(text)
        } else if text.hasPrefix("/") {
            self = .folder(text)
        } else if let colon = text.firstIndex(of: ":"), !text[..<colon].contains("/") {
            self = try Self.rsync(text, host: text[..<colon])
        } else {
            throw LibraryError(
                .badTarget,
                "\(text) is neither s3://BUCKET/PREFIX, rsync://HOST/PATH or HOST:PATH, nor an absolute path")
        }
    }

    /// Names of objects need no escaping anywhere then: what signs them, and what serves them, cannot differ over it.
    private static func bucket(_ text: String) throws(LibraryError) -> PublicationTarget {
        let parts = text.dropFirst("s3://".count).split(separator: "/", omittingEmptySubsequences: true)
        guard let bucket = parts.first, (3...63).contains(bucket.utf8.count),
            bucket.utf8.allSatisfy({ isSmall($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") })
        else {
            throw LibraryError(
                .badTarget, "\(text) names no bucket: s3://BUCKET/PREFIX, in small letters, digits, - and .")
        }
        for part in parts.dropFirst() {
            guard part != ".", part != "..", PercentEncoding.encode(String(part)) == part else {
                throw LibraryError(
                    .badTarget, "\(text): the prefix takes letters, digits, - _ . ~ and /, and no name of dots alone")
            }
        }
        return .bucket(String(bucket), prefix: parts.dropFirst().joined(separator: "/"))
    }

    private static func isSmall(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// A host that begins with `-` would be an option to ssh, and a password would be seen by everybody.
    private static func rsync(_ text: String, host: Substring) throws(LibraryError) -> PublicationTarget {
        let isURL = text.hasPrefix("rsync://")
        guard isURL || !text.contains("://") else {
            throw LibraryError(
                .badTarget, "\(host):// is no place to publish to: s3://, rsync://, HOST:PATH or a folder")
        }
        let authority = isURL ? text.dropFirst("rsync://".count).prefix { $0 != "/" } : host
        let path = isURL ? text.dropFirst("rsync://".count + authority.count) : text.dropFirst(host.count + 1)
        let user = authority.split(separator: "@", omittingEmptySubsequences: false)
        guard user.count <= 2, !user.contains(where: { $0.isEmpty || $0.hasPrefix("-") }),
            user.count < 2 || !user[0].contains(":")
        else {
            throw LibraryError(
                .badTarget, "the place for rsync is HOST:PATH or rsync://HOST/MODULE/PATH, with no password")
        }
        // A name with a colon before the host is a password that was meant for one, and two colons are rsync:// in other words.
        guard isURL || path.hasPrefix("/") || !path.contains(":") else {
            throw LibraryError(
                .badTarget, "the place for rsync is HOST:PATH or rsync://HOST/MODULE/PATH, with no password")
        }
        guard !path.isEmpty, path != "/" else {
            throw LibraryError(.badTarget, "\(text) has no path: give a folder of its own")
        }
        return .rsync(text)
    }
}
