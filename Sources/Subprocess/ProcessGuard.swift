import Glibc
import Synchronization

/// Ends the process groups of children with this process, however that ends.
///
/// A helper reads from a socket whose other end only this process has: it learns the groups that begin and end, and kills those
/// that are left when the socket closes, also after SIGKILL. It is a shell, started with the first group, in a session of its own.
public final class ProcessGuard: Sendable {
    /// The guard of this process.
    public static let shared = ProcessGuard()

    private struct State {
        var groups: Set<pid_t> = []
        /// This process's end of the socket; nil without a helper.
        var descriptor: Int32?
    }

    private let state = Mutex(State())

    private static let script = """
        set --
        while read -r sign pid; do
            if [ "$sign" = + ]; then
                set -- "$@" "$pid"
            else
                for group; do
                    shift
                    [ "$group" = "$pid" ] || set -- "$@" "$group"
                done
            fi
        done
        for group; do kill -KILL "-$group"; done
        """

    private init() {}

    /// Starts the helper, so that a group that begins now is known to it at once: this process may be killed the next moment.
    func prepare() {
        state.withLock { state in
            if state.descriptor == nil {
                state.descriptor = Self.startHelper()
            }
        }
    }

    /// Ends a group with this process. `prepare()` was called before the group began.
    func add(_ group: pid_t) {
        state.withLock { state in
            state.groups.insert(group)
            // A helper that somebody has ended is replaced by one that knows all groups.
            guard let descriptor = state.descriptor, !Self.send("+ \(group)\n", to: descriptor) else { return }
            close(descriptor)
            state.descriptor = Self.startHelper()
            guard let descriptor = state.descriptor else { return }
            let all = state.groups.map { "+ \($0)\n" }.joined()
            _ = Self.send(all, to: descriptor)
        }
    }

    func remove(_ group: pid_t) {
        state.withLock { state in
            state.groups.remove(group)
            if let descriptor = state.descriptor {
                _ = Self.send("- \(group)\n", to: descriptor)
            }
        }
    }

    /// The groups whose leaders were not awaited yet.
    public var groups: Set<Int32> { state.withLock(\.groups) }

    /// Ends all groups with SIGTERM, and after half of the limit with SIGKILL; returns when their leaders were awaited, or after the
    /// limit.
    /// - Parameter pause: waits for a time; throws once the task is cancelled.
    public func endGroups(within limit: Duration, pause: @Sendable (Duration) async throws -> Void) async {
        let begin = ContinuousClock.now
        signal(SIGTERM)
        var isKilled = false
        while !groups.isEmpty, ContinuousClock.now - begin < limit {
            if !isKilled, ContinuousClock.now - begin >= limit / 2 {
                signal(SIGKILL)
                isKilled = true
            }
            guard (try? await pause(.milliseconds(10))) != nil else { return }
        }
    }

    /// Signals the groups under the lock, so that none of them is awaited meanwhile.
    private func signal(_ number: Int32) {
        state.withLock { state in
            for group in state.groups {
                _ = kill(-group, number)
            }
        }
    }

    /// Returns this process's end of the socket; nil if no helper could be started.
    private static func startHelper() -> Int32? {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        defer { close(ends[1]) }
        let nothing = SpawnedProcess.Stream.file("/dev/null", O_WRONLY)
        let helper = try? SpawnedProcess(
            ["/bin/sh", "-c", script], streams: (.descriptor(ends[1]), nothing, nothing), leadsSession: true)
        guard helper != nil else {
            close(ends[0])
            return nil
        }
        return ends[0]
    }

    private static func send(_ text: String, to descriptor: Int32) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
