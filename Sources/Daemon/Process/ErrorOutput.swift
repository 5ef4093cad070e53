internal import Glibc
internal import Synchronization

/// The standard error of the process. Where it is the log of a daemon in the background, the file stays small.
final class ErrorOutput: Sendable {
    /// The output of this process.
    static let shared = ErrorOutput()

    /// The most bytes of the log, beside those of one former log.
    static let limit = 1 << 20

    private struct State {
        var repeats = RepeatedLines()
        /// The path of the log that standard error may be.
        var file: String?
    }

    private let state = Mutex(State())

    /// Keeps the file at `path` small, if standard error is that file.
    func follow(_ path: String) { state.withLock { $0.file = path } }

    /// Writes a line, each with one system call, so that lines of several threads do not mix.
    /// - Parameters:
    ///   - prefix: the time, which equal lines have not in common.
    ///   - isCounted: true to count it if it was written within the last minute.
    func write(_ line: String, prefix: String, isCounted: Bool) {
        state.withLock { state in
            var lines = [line]
            if isCounted {
                lines = state.repeats.add(line, at: Self.now)
            }
            for line in lines {
                Self.write(prefix + line)
            }
            if let file = state.file {
                Self.limitFile(at: file)
            }
        }
    }

    /// Writes the counts of lines that came again.
    func end(prefix: String) {
        state.withLock { state in
            for line in state.repeats.end() {
                Self.write(prefix + line)
            }
        }
    }

    private static func write(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        // A failure cannot be reported anywhere else.
        _ = bytes.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Sets a long log aside, and continues in a new file, if `error` is the file at the path; and with `output`, if that is too.
    static func limitFile(at path: String, error: Int32 = STDERR_FILENO, output: Int32 = STDOUT_FILENO) {
        var open = stat()
        var named = stat()
        guard fstat(error, &open) == 0, open.st_size > limit, lstat(path, &named) == 0,
            open.st_ino == named.st_ino, open.st_dev == named.st_dev, rename(path, path + ".1") == 0
        else { return }
        let next = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard next >= 0 else { return }
        defer { close(next) }
        var other = stat()
        if fstat(output, &other) == 0, other.st_ino == open.st_ino, other.st_dev == open.st_dev {
            dup2(next, output)
        }
        dup2(next, error)
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
