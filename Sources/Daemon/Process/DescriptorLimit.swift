import Glibc

/// The number of file descriptors that the process may have (RLIMIT_NOFILE).
enum DescriptorLimit {
    /// The soft limit, in force, and the hard one, up to which a process may raise it; nil if they are unknown.
    static var current: (soft: Int, hard: Int)? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return (Int(clamping: limit.rlim_cur), Int(clamping: limit.rlim_max))
    }

    /// Raises the soft limit to the hard one: the usual soft limit of 1,024 is for programs that use select(2).
    /// - Returns: the limit in force; nil if it is unknown.
    @discardableResult static func raise() -> Int? {
        guard let current else { return nil }
        var limit = rlimit(rlim_cur: rlim_t(current.hard), rlim_max: rlim_t(current.hard))
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Self.current?.soft
    }

    /// The connections that a server may have, of `usual`: each needs its socket and a file, as many others may wait, and
    /// the last quarter is for the store and for origins.
    static func connections(of usual: Int, limit: Int?) -> Int {
        min(usual, max(16, (limit ?? .max) / 4))
    }
}
