internal import Glibc
package import WeirAPI

/// A daemon's lock on a state directory. It is released with the last reference or at the end of the process.
package final class StateClaim: Sendable {
    package let directory: StateDirectory
    /// The bearer token: 256 random bits as base64url (RFC 4648 §5).
    package let token: String
    private let lock: Int32

    /// Locks the directory, which must exist.
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

    /// The token in the URLs of players on the network. It opens media only, never the API.
    package func mediaToken() throws(APIError) -> String { try Self.token(directory, in: "media-token") }

    /// The key of the page, for a daemon that keeps it.
    func pageKey() throws(APIError) -> String { try Self.token(directory, in: StateDirectory.pageKeyFile) }

    /// Records the URL at which the daemon listens, such as `http://127.0.0.1:8216`. Call it once the daemon listens.
    ///
    /// - Parameter record: more about the daemon, for commands.
    package func publish(url: String, record: DaemonRecord? = nil) throws(APIError) {
        if let record {
            try directory.writeFile("daemon", String(decoding: API.encode(record), as: UTF8.self))
        }
        try directory.writeFile("listening", url)
    }

    /// Deletes the socket of an earlier daemon, and returns the path for a new one; nil if the path is too long. The lock keeps
    /// another daemon's socket safe.
    package func prepareSocket() -> String? {
        if let path = directory.socketPath {
            unlink(path)
        }
        return directory.socketPath
    }

    /// Deletes the records and the socket. Call it before the daemon stops listening.
    package func withdraw() {
        unlink("\(directory.path)/daemon")
        unlink("\(directory.path)/listening")
        if let path = directory.socketPath {
            unlink(path)
        }
    }

    private static func lock(_ directory: StateDirectory) throws(APIError) -> Int32 {
        let descriptor = open("\(directory.path)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw directory.failure("cannot be written", SystemError(errno)) }
        var isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        // A command that looks for the daemon may hold the lock for a moment.
        for _ in 0..<5 where !isLocked && errno == EWOULDBLOCK {
            usleep(10_000)
            isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        }
        guard isLocked else {
            let error = SystemError(errno)
            close(descriptor)
            guard error.number == EWOULDBLOCK else { throw directory.failure("cannot be locked", error) }
            var sentence = "a daemon runs with the state directory \(directory.path)"
            if let url = directory.daemonURL {
                sentence += " and listens on \(url)"
            }
            throw APIError(
                .cannotWrite, sentence,
                next: "use that daemon, or give this one its own directories with --state DIR and --store DIR")
        }
        return descriptor
    }

    /// Reads the stored token. Generates a new one if there is none or if other users could have read it.
    private static func token(_ directory: StateDirectory, in file: String) throws(APIError) -> String {
        if directory.isPrivate(file), case .success(let text) = directory.readFile(file), StateDirectory.isToken(text) {
            return text
        }
        let token = StateDirectory.randomToken()
        try directory.writeFile(file, token)
        return token
    }
}

extension StateDirectory {
    /// Creates the directory if necessary, locks it for one daemon, and reads or generates the token.
    package func claim() throws(APIError) -> StateClaim {
        try create()
        return try StateClaim(self)
    }

    /// Creates the directory if necessary, for this user only.
    package func create() throws(APIError) {
        var made = ""
        // An existing directory need not be writable.
        var refusal: SystemError?
        for part in path.split(separator: "/") {
            made += "/" + part
            if mkdir(made, 0o700) == 0 || errno == EEXIST {
                continue
            }
            let error = SystemError(errno)
            guard error.number == EROFS else { throw failure("cannot be created", refusal ?? error) }
            refusal = error
        }
        var status = stat()
        guard stat(path, &status) == 0 else { throw failure("cannot be created", refusal ?? SystemError(errno)) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw failure("is not a folder", nil) }
        guard status.st_uid == geteuid() else { throw failure("belongs to another user", nil) }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else {
            throw failure("cannot be made private", SystemError(errno))
        }
    }
}
