internal import Glibc

/// The right of one daemon to a state directory, given back when the last reference goes or the process ends.
public final class StateClaim: Sendable {
    /// The folder.
    public let directory: StateDirectory
    /// The bearer token: 256 random bits as base64url (RFC 4648 §5).
    public let token: String
    private let lock: Int32

    /// Locks the folder, which exists.
    init(_ directory: StateDirectory) throws(ControlError) {
        self.directory = directory
        lock = try Self.lock(directory)
        do {
            token = try Self.token(directory, in: "token")
        } catch {
            close(lock)
            throw error
        }
    }

    deinit { close(lock) }

    /// The token that players elsewhere on the network have in their URLs. It opens media alone, never the API.
    public func mediaToken() throws(ControlError) -> String { try Self.token(directory, in: "media-token") }

    /// Notes where the daemon listens, once it does: `http://127.0.0.1:8216`.
    public func publish(url: String) throws(ControlError) { try directory.writeFile("listening", url) }

    /// Takes the note away, before the daemon stops to listen.
    public func withdraw() { unlink("\(directory.path)/listening") }

    private static func lock(_ directory: StateDirectory) throws(ControlError) -> Int32 {
        let descriptor = open("\(directory.path)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw directory.failure("cannot be written", SystemError(errno)) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = SystemError(errno)
            close(descriptor)
            guard error.number == EWOULDBLOCK else { throw directory.failure("cannot be locked", error) }
            let place = directory.daemonURL.map { " and listens on \($0)" } ?? ""
            throw ControlError(
                .cannotWrite, "a daemon runs with the state directory \(directory.path)\(place)",
                next: "use that one, or give this one its own with --state DIR and --store DIR")
        }
        return descriptor
    }

    /// The token that is there, unless others could have read it; else a new one.
    private static func token(_ directory: StateDirectory, in file: String) throws(ControlError) -> String {
        var status = stat()
        let isPrivate =
            lstat("\(directory.path)/\(file)", &status) == 0 && status.st_uid == geteuid()
            && status.st_mode & 0o077 == 0
        if isPrivate, case .success(let text) = directory.readFile(file), isToken(text) { return text }
        let token = random()
        try directory.writeFile(file, token)
        return token
    }

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// 43 characters of six bits each; the last one carries four.
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        var sextets = (0..<43).map { _ in Int(generator.next() & 63 as UInt64) }
        sextets[42] &= ~3
        return String(decoding: sextets.map { alphabet[$0] }, as: UTF8.self)
    }

    static func isToken(_ text: String) -> Bool { text.utf8.count == 43 && text.utf8.allSatisfy(alphabet.contains) }
}
