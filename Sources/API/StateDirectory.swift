internal import Glibc

/// The directory by which a command finds its daemon. It holds `token`, `listening` with the daemon's URL while it
/// serves, and `link` with a link conditioner's control URL.
///
/// Its mode is 0700 and its files have 0600, so only the user who started the daemon and root can read the token.
public struct StateDirectory: Sendable {
    /// The absolute path.
    public let path: String

    /// Creates a directory object. The directory need not exist yet.
    public init(_ path: String) { self.path = path }

    /// The bearer token of the API.
    ///
    /// - Throws: `APIError` with `.noDaemon` if no daemon has created one, `.unauthorized` if it cannot be read.
    public func token() throws(APIError) -> String {
        switch readFile("token") {
        case .success(let text) where Self.isToken(text): return text
        case .success: throw APIError(.unauthorized, "\(path)/token holds no token", next: "start the daemon anew")
        case .failure(.noSuchFile): throw APIError(.noDaemon, "no daemon has run with the state directory \(path)")
        case .failure(let error):
            throw APIError(.unauthorized, "\(path)/token cannot be read: \(error)", underlying: error)
        }
    }

    /// The base URL of the latest daemon, without a slash at its end; nil if no daemon serves.
    ///
    /// The record is stale after a kill: then a connection to it fails. Only loopback URLs are accepted.
    public var daemonURL: String? { loopbackURL(in: "listening") }

    /// The reason why `daemonURL` is nil: no daemon serves, or this user may not read the record.
    var absence: APIError {
        if case .failure(let error) = readFile("listening"), error.number == EACCES {
            return APIError(
                .unauthorized, "the state directory \(path) cannot be read: \(error)",
                next: "run weir as the user whose daemon it is, or give another one with --state DIR",
                underlying: error)
        }
        return APIError(.noDaemon, "no daemon runs with the state directory \(path)")
    }

    /// The control URL of the most recent link conditioner (`tools/link`); nil if none runs.
    ///
    /// The record may be stale after a kill, and only loopback URLs are accepted, as for `daemonURL`.
    public var linkURL: String? { loopbackURL(in: "link") }

    private func loopbackURL(in name: String) -> String? {
        guard case .success(let text) = readFile(name) else { return nil }
        guard text.hasPrefix("http://127.") || text.hasPrefix("http://[::1]:") else { return nil }
        return text
    }

    /// The error for a folder or file that cannot be used.
    public func failure(_ what: String, _ error: SystemError?) -> APIError {
        APIError(
            .cannotWrite, "the state directory \(path) \(what)" + (error.map { ": \($0)" } ?? ""),
            next: "give another one with --state DIR", underlying: error)
    }

    /// Reads the first line of a small file.
    public func readFile(_ name: String) -> Result<String, SystemError> {
        let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return .failure(SystemError(errno)) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { return .failure(SystemError(errno)) }
        let line = bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }
        return .success(String(decoding: line, as: UTF8.self))
    }

    /// Replaces a file atomically: a reader sees the old text or the new one.
    public func writeFile(_ name: String, _ line: String) throws(APIError) {
        let target = "\(path)/\(name)"
        let draft = target + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be written", SystemError(errno)) }
        let bytes = Array("\(line)\n".utf8)
        let written = write(descriptor, bytes, bytes.count)
        let error = SystemError(errno)
        close(descriptor)
        guard written == bytes.count else { throw failure("cannot be written", error) }
        guard rename(draft, target) == 0 else { throw failure("cannot be written", SystemError(errno)) }
    }

    private static let tokenAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Generates a token: 256 random bits as base64url (RFC 4648 §5), 43 characters of six bits each; the last one
    /// carries four.
    public static func randomToken() -> String {
        var generator = SystemRandomNumberGenerator()
        var sextets = (0..<43).map { _ in Int(generator.next() & 63 as UInt64) }
        sextets[42] &= ~3
        return String(decoding: sextets.map { tokenAlphabet[$0] }, as: UTF8.self)
    }

    /// True if a text has the form of a token.
    public static func isToken(_ text: String) -> Bool {
        text.utf8.count == 43 && text.utf8.allSatisfy(tokenAlphabet.contains)
    }
}

/// The errno of a failed system call.
public struct SystemError: Error, Equatable, CustomStringConvertible {
    /// ENOENT.
    public static let noSuchFile = SystemError(ENOENT)

    /// The errno.
    public let number: Int32
    /// Creates an error from an errno.
    public init(_ number: Int32) { self.number = number }

    /// The text of strerror(3).
    public var description: String { String(cString: strerror(number)) }
}
