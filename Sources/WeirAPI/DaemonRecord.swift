internal import Glibc

/// Describes a daemon to the commands: the file `daemon` in its state directory, from when it listens until it stops.
package struct DaemonRecord: Codable, Equatable, Sendable {
    package var version: String
    package var process: Int32
    /// Time of the start, in seconds since 1970.
    package var started: Int
    /// Seconds without work after which the daemon ends; absent if it stays.
    package var idleExit: Int?
    /// The folder of its store; absent in the record of an older version.
    package var store: String?

    package init(version: String, process: Int32, started: Int, idleExit: Int? = nil, store: String? = nil) {
        self.version = version
        self.process = process
        self.started = started
        self.idleExit = idleExit
        self.store = store
    }

    /// True if the daemon is known to have another store than a folder, which need not exist.
    package func hasOtherStore(than folder: String) -> Bool {
        // A command looks at the folders only if it has to.
        guard let store, store != folder else { return false }
        return Self.withoutLinks(store) != Self.withoutLinks(folder)
    }

    private static func withoutLinks(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// True if the daemon's version comes before another one; false if one of them has no numbers.
    package func isOlder(than other: String) -> Bool {
        let own = Self.numbers(of: version)
        let others = Self.numbers(of: other)
        return !own.isEmpty && !others.isEmpty && own.lexicographicallyPrecedes(others)
    }

    /// The numbers of `0.1.0` or `0.1.0+abc`.
    private static func numbers(of version: String) -> [Int] {
        version.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }.split(separator: ".").compactMap { Int($0) }
    }
}

extension StateDirectory {
    /// The record of the daemon; nil if none serves, or if it writes none. It is stale after a kill.
    package var daemon: DaemonRecord? {
        guard case .success(let line) = readFile("daemon") else { return nil }
        return try? API.decode(from: Array(line.utf8))
    }

    /// True while a daemon listens.
    package var isServed: Bool { daemonURL != nil && DaemonAccess(state: self).hasListener }

    /// True while a daemon runs with this directory, also before it listens and while it stops.
    package var isClaimed: Bool {
        let descriptor = open("\(path)/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Performs an action on the directory's files while no daemon can start. Returns false, without the action, if one runs.
    package func withoutDaemon(_ action: () throws(APIError) -> Void) throws(APIError) -> Bool {
        let descriptor = open("\(path)/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        // No daemon has run here.
        if descriptor < 0, errno == ENOENT {
            return true
        }
        guard descriptor >= 0 else { throw failure("cannot be read", SystemError(errno)) }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw failure("cannot be locked", SystemError(errno)) }
            return false
        }
        try action()
        return true
    }

    /// The daemon's process: the one that listens at its socket, else the recorded one; nil if no daemon runs.
    package var daemonProcess: Int32? {
        if let listener = DaemonAccess(state: self).process {
            return listener
        }
        guard isClaimed else { return nil }
        return daemon?.process
    }
}
