internal import CLinux
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
        readBytes(name, limit: limit).map { bytes in
            let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
            return String(decoding: line, as: UTF8.self)
        }
    }

    /// Reads a file. What is beyond the limit, in bytes, is cut off.
    package func readBytes(_ name: String, limit: Int) -> Result<[UInt8], SystemError> {
        let descriptor = open("\(path)/\(name)", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return .failure(SystemError(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return .failure(SystemError(errno)) }
        // The size of some files is not known, as in /proc.
        let size = max(Int(status.st_size), Self.smallest)
        var bytes = [UInt8](repeating: 0, count: min(limit, size))
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { room in
                read(descriptor, room.baseAddress.map { $0 + length }, room.count - length)
            }
            guard count >= 0 || errno == EINTR else { return .failure(SystemError(errno)) }
            guard count != 0 else { break }
            length += max(count, 0)
        }
        bytes.removeLast(bytes.count - length)
        return .success(bytes)
    }

    private static let smallest = 8192

    /// Replaces a file by one line, as `writeFile(_:bytes:isDurable:)`.
    package func writeFile(_ name: String, _ line: String, isDurable: Bool = false) throws(APIError) {
        try writeFile(name, bytes: Array("\(line)\n".utf8), isDurable: isDurable)
    }

    /// Replaces a file atomically: a reader sees the old text or the new one.
    /// - Parameter isDurable: true to wait until that holds after a loss of power too. Not for the loop.
    package func writeFile(_ name: String, bytes: [UInt8], isDurable: Bool) throws(APIError) {
        let target = "\(path)/\(name)"
        let draft = target + ".new"
        unlink(draft)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be written", SystemError(errno)) }
        let isWritten = Self.write(bytes, to: descriptor) && (!isDurable || fsync(descriptor) == 0)
        let error = SystemError(errno)
        close(descriptor)
        guard isWritten else {
            unlink(draft)
            throw failure("cannot be written", error)
        }
        guard rename(draft, target) == 0 else { throw failure("cannot be written", SystemError(errno)) }
        if isDurable {
            syncFolder(of: target)
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 || count < 0 && errno == EINTR else { return false }
            rest = rest.dropFirst(max(count, 0))
        }
        return true
    }

    /// Makes the new name of a file survive a loss of power. A file system that cannot do that has the file all the same.
    private func syncFolder(of file: String) {
        let folder = String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)])
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// Makes a folder of the directory, unless it is there.
    package func makeFolder(_ name: String) throws(APIError) {
        guard mkdir("\(path)/\(name)", 0o700) == 0 || errno == EEXIST else {
            throw failure("cannot be written", SystemError(errno))
        }
    }

    /// Deletes a file; one that is missing is no error.
    package func removeFile(_ name: String) { unlink("\(path)/\(name)") }

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
