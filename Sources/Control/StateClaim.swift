public import API
internal import Glibc

/// The right of one daemon to a state directory, given back when the last reference goes or the process ends.
public final class StateClaim: Sendable {
    /// The folder.
    public let directory: StateDirectory
    /// The bearer token: 256 random bits as base64url (RFC 4648 §5).
    public let token: String
    private let lock: Int32

    /// Locks the folder, which exists.
    init(_ directory: StateDirectory) throws(APIError) {
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
    public func mediaToken() throws(APIError) -> String { try Self.token(directory, in: "media-token") }

    /// Notes where the daemon listens, once it does: `http://127.0.0.1:8216`.
    public func publish(url: String) throws(APIError) { try directory.writeFile("listening", url) }

    /// Takes the note away, before the daemon stops to listen.
    public func withdraw() { unlink("\(directory.path)/listening") }

    private static func lock(_ directory: StateDirectory) throws(APIError) -> Int32 {
        let descriptor = open("\(directory.path)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw directory.failure("cannot be written", SystemError(errno)) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = SystemError(errno)
            close(descriptor)
            guard error.number == EWOULDBLOCK else { throw directory.failure("cannot be locked", error) }
            let place = directory.daemonURL.map { " and listens on \($0)" } ?? ""
            throw APIError(
                .cannotWrite, "a daemon runs with the state directory \(directory.path)\(place)",
                next: "use that one, or give this one its own with --state DIR and --store DIR")
        }
        return descriptor
    }

    /// The token that is there, unless others could have read it; else a new one.
    private static func token(_ directory: StateDirectory, in file: String) throws(APIError) -> String {
        var status = stat()
        let isPrivate =
            lstat("\(directory.path)/\(file)", &status) == 0 && status.st_uid == geteuid()
            && status.st_mode & 0o077 == 0
        if isPrivate, case .success(let text) = directory.readFile(file), StateDirectory.isToken(text) { return text }
        let token = StateDirectory.randomToken()
        try directory.writeFile(file, token)
        return token
    }
}

extension StateDirectory {
    /// Makes the folder if need be, takes it for one daemon, and gives the token, made on first use.
    ///
    /// - Throws: `APIError` with `.cannotWrite` when it cannot be written or another daemon has it.
    public func claim() throws(APIError) -> StateClaim {
        try create()
        return try StateClaim(self)
    }

    private func create() throws(APIError) {
        var made = ""
        // What is there already need not be writable.
        var refusal: SystemError?
        for part in path.split(separator: "/") {
            made += "/" + part
            if mkdir(made, 0o700) == 0 || errno == EEXIST { continue }
            let error = SystemError(errno)
            guard error.number == EROFS else { throw failure("cannot be made", refusal ?? error) }
            refusal = error
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure("cannot be made", refusal ?? SystemError(errno)) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw failure("is not a folder", nil) }
        guard status.st_uid == geteuid() else { throw failure("belongs to another user", nil) }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else {
            throw failure("cannot be closed to other users", SystemError(errno))
        }
    }
}
