import CLinux
import Glibc
import HTTPMessage

/// Finds a way to the daemon that does not lead to another user's program, which could keep the token.
///
/// The first way is a Unix socket in the state directory, which only the directory's owner can create. An older daemon has none;
/// then the program that listens at the daemon's URL is judged. It must belong to this user, to root (whose service manager may
/// listen for the daemon), or to the owner of the state directory. For root it may also be a service with a user of its own whose state
/// directory systemd maps: that belongs to nobody outside of the service.
struct DaemonAccess {
    enum Way: Equatable {
        case socket(path: String)
        case network
    }

    let state: StateDirectory

    /// The way for one call with a token. Throws `.noDaemon` if nothing listens, and `.otherUser`.
    func way(to url: WebURL) throws(APIError) -> Way {
        if let path = state.socketPath, let user = Self.listener(at: path) {
            guard isTrusted(user) else { throw refusal(of: user, at: path) }
            return .socket(path: path)
        }
        let base = "http://\(WebURL.bracketed(url.host)):\(url.port)"
        guard let user = Self.listener(at: url) else {
            // Where the kernel does not answer, nobody can be told apart.
            if weir_knows_socket_users() == 0 {
                return .network
            }
            throw APIError(.noDaemon, "no daemon answers at \(base)")
        }
        guard isTrusted(user) else { throw refusal(of: user, at: base) }
        return .network
    }

    /// True if a program listens where the daemon should.
    var hasListener: Bool {
        if let path = state.socketPath, Self.listener(at: path) != nil {
            return true
        }
        guard let text = state.daemonURL, let url = try? WebURL(text) else { return false }
        // Where the kernel does not answer, only the socket shows that a daemon has gone.
        return Self.listener(at: url) != nil || state.socketPath == nil && weir_knows_socket_users() == 0
    }

    /// The process that listens at the Unix socket; nil if none does.
    var process: Int32? {
        var process: Int32 = 0
        guard let path = state.socketPath, weir_unix_listener(path, &process) >= 0, process > 0 else { return nil }
        return process
    }

    private func isTrusted(_ user: UInt32) -> Bool {
        if user == geteuid() || user == 0 {
            return true
        }
        var status = stat()
        guard stat(state.path, &status) == 0 else { return false }
        return status.st_uid == user || status.st_uid == Self.nobody && geteuid() == 0 && isShut
    }

    /// The owner of a directory that newer versions of systemd map to a service's user (DynamicUser with StateDirectory).
    private static let nobody: UInt32 = 65_534

    /// True if only root can reach the state directory from outside, such as `/var/lib/private`: then only root can have let a
    /// program in.
    private var isShut: Bool {
        guard let real = realpath(state.path, nil) else { return false }
        defer { free(real) }
        var components = String(cString: real).split(separator: "/").dropLast()
        while !components.isEmpty {
            var status = stat()
            let isKnown = lstat("/" + components.joined(separator: "/"), &status) == 0
            if isKnown, status.st_uid == 0, status.st_mode & 0o077 == 0 {
                return true
            }
            components.removeLast()
        }
        return false
    }

    private func refusal(of user: UInt32, at base: String) -> APIError {
        var name = "\(user)"
        if let entry = getpwuid(user) {
            name = String(cString: entry.pointee.pw_name)
        }
        return APIError(
            .otherUser,
            "the program that listens on \(base) belongs to the user \(name), so the token was not sent to it",
            next: "end that program, or start the daemon at another address: weir serve --listen 127.0.0.1:0")
    }

    /// The user who listens on a Unix socket; nil if nobody does, or if the queue of connections is full.
    private static func listener(at path: String) -> UInt32? {
        UInt32(exactly: weir_unix_listener_user(path))
    }

    /// The user who listens at the loopback address of a URL; nil if nobody does.
    private static func listener(at url: WebURL) -> UInt32? {
        LoopbackListener.user(at: url.host, port: url.port)
    }
}
