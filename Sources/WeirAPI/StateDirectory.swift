internal import Glibc
internal import HTTPMessage

/// The directory by which a command finds its daemon: `token`, `listening` with the daemon's URL and `daemon` with more about it
/// while it serves, `socket`, and `link` with a link conditioner's URL. `page-key` and `phones` outlive the daemon. Its mode
/// is 0700 and its files have 0600.
package struct StateDirectory: Sendable {
    /// The absolute path.
    package let path: String

    /// Creates a directory object. The directory need not exist yet.
    package init(_ path: String) { self.path = path }

    /// The API's bearer token. Throws `.noDaemon` if no daemon has created one, `.unauthorized` if it cannot be read.
    package func token() throws(APIError) -> String {
        switch readFile("token") {
        case .success(let text) where Self.isToken(text): return text
        case .success: throw APIError(.unauthorized, "\(path)/token holds no token", next: "restart the daemon")
        case .failure(.noSuchFile): throw APIError(.noDaemon, "no daemon has run with the state directory \(path)")
        case .failure(let error):
            throw APIError(.unauthorized, "\(path)/token cannot be read: \(error)", underlying: error)
        }
    }

    /// The base URL of the latest daemon, without a slash at its end; nil if no daemon serves. Only loopback URLs are
    /// accepted. The record is stale after a kill: then a connection fails.
    package var daemonURL: String? { loopbackURL(in: "listening") }

    /// The path of the daemon's Unix socket; nil if it is too long for one (unix(7)). The file is stale after a kill.
    package var socketPath: String? {
        let socket = path + "/socket"
        guard socket.utf8.count < 108 else { return nil }
        return socket
    }

    /// The reason why `daemonURL` is nil: no daemon serves, or this user may not read the record.
    var absence: APIError {
        if case .failure(let error) = readFile("listening"), error.number == EACCES {
            return APIError(
                .unauthorized, "the state directory \(path) cannot be read: \(error)",
                next: "run weir as the user whose daemon it is, or name another directory with --state DIR",
                underlying: error)
        }
        return APIError(.noDaemon, "no daemon runs with the state directory \(path)")
    }

    /// The control URL of the most recent link conditioner (`tools/link`), under the same conditions as `daemonURL`.
    package var linkURL: String? { loopbackURL(in: "link") }

    private func loopbackURL(in name: String) -> String? {
        guard case .success(let text) = readFile(name) else { return nil }
        guard text.hasPrefix("http://127.") || text.hasPrefix("http://[::1]:") else { return nil }
        return text
    }

    /// The error for a folder or file that cannot be used.
    package func failure(_ what: String, _ error: SystemError?) -> APIError {
        var message = "the state directory \(path) \(what)"
        if let error {
            message += ": \(error)"
        }
        return APIError(
            .cannotWrite, message, next: "name another directory with --state DIR", underlying: error)
    }

    /// Reads the first line of a file. What is beyond the limit, in bytes, is cut off.
    package func readFile(_ name: String, limit: Int = 8192) -> Result<String, SystemError> {
        let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return .failure(SystemError(errno)) }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { return .failure(SystemError(errno)) }
        let line = bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }
        return .success(String(decoding: line, as: UTF8.self))
    }

    /// Replaces a file atomically: a reader sees the old text or the new one.
    package func writeFile(_ name: String, _ line: String) throws(APIError) {
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

    package static let pageKeyFile = "page-key"

    /// Deletes the key of the page, and the file that leads a browser to the page with it.
    package func removePageKey() throws(APIError) {
        for name in [Self.pageKeyFile, "page.html"] where unlink("\(path)/\(name)") != 0 && errno != ENOENT {
            throw failure("cannot be written", SystemError(errno))
        }
    }

    private static let tokenAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Generates a token: 256 random bits as base64url (RFC 4648 §5). The last of the 43 characters carries four bits.
    package static func randomToken() -> String {
        var generator = SystemRandomNumberGenerator()
        var sextets = (0..<43).map { _ in Int(generator.next() & 63 as UInt64) }
        sextets[42] &= ~3
        return String(decoding: sextets.map { tokenAlphabet[$0] }, as: UTF8.self)
    }

    /// True if a text has the form of a token.
    package static func isToken(_ text: String) -> Bool {
        text.utf8.count == 43 && text.utf8.allSatisfy(tokenAlphabet.contains)
    }
}

/// The errno of a failed system call.
package struct SystemError: Error, Equatable, CustomStringConvertible {
    package static let noSuchFile = SystemError(ENOENT)
    package let number: Int32
    package init(_ number: Int32) { self.number = number }

    package var description: String { String(cString: strerror(number)) }
}

extension StateDirectory {
    /// Writes `page.html`, readable by its owner only, which leads a browser to the page, and returns its path. So the
    /// key is not in a program's arguments, which all users of a machine can read.
    ///
    /// The key is in the fragment of the link, which browsers do not send. `base` has no slash at its end.
    /// - Parameter urls: streams that the page proposes to add.
    package func writePageFile(
        to base: String, _ path: String, proposing urls: [String] = []
    ) throws(APIError) -> String {
        let key = path.split(separator: "/").last ?? ""
        let proposals = urls.map { "&url=\(PercentEncoding.encode($0))" }.joined()
        let link = HTMLText.escaped("\(base)/#key=\(key)\(proposals)")
        try writeFile(
            "page.html",
            """
            <!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Weir</title>\
            <meta http-equiv="refresh" content="0;url=\(link)"><p><a href="\(link)">Weir</a></p>
            """)
        return "\(self.path)/page.html"
    }
}

/// Escapes text for HTML.
package enum HTMLText {
    /// Escapes text for an element or a quoted attribute. Titles are untrusted.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\u{0}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
