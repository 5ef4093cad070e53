import Glibc
import Store
import Subprocess
import Synchronization

/// Runs a program to its end, without input.
struct ChildProgram {
    struct Outcome {
        /// The exit code; nil if a signal ended the program.
        let code: Int32?
        var hasSucceeded: Bool { code == 0 }
        let output: String
        /// The lines of the standard error.
        let errors: [String]
    }

    /// Finds a program in PATH.
    static func find(_ name: String) -> String? {
        var folders = "/usr/local/bin:/usr/bin:/bin"
        if let path = getenv("PATH") {
            folders = String(cString: path)
        }
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// Runs a program, and blocks this thread until it ends.
    ///
    /// - Parameters:
    ///   - work: the folder for the files that collect its output.
    ///   - cancellation: ends the program from another thread.
    ///   - onLine: receives each line of standard output at once; `Outcome.output` is then empty.
    /// - Throws: `io` if the program cannot be started.
    static func run(
        _ path: String, _ arguments: [String], in work: Directory, cancellation: Cancellation? = nil,
        onLine: ((Substring) -> Void)? = nil
    ) throws(StoreError) -> Outcome {
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        var output = SpawnedProcess.Stream.file(work.path + "/stdout", flags)
        var ends: [Int32] = [-1, -1]
        if onLine != nil {
            let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
            guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
                throw StoreError(.io, path: path, detail: String(cString: strerror(errno)))
            }
            output = .descriptor(ends[1])
        }
        defer {
            if ends[0] >= 0 {
                close(ends[0])
            }
        }
        let process: SpawnedProcess
        do {
            defer {
                if ends[1] >= 0 {
                    close(ends[1])
                }
            }
            process = try SpawnedProcess(
                [path] + arguments,
                streams: (.file("/dev/null", O_RDONLY), output, .file(work.path + "/stderr", flags)),
                leadsGroup: true)
        } catch {
            throw StoreError(.io, path: path, detail: String(cString: strerror(error.code)))
        }
        cancellation?.attach(process)
        if let onLine {
            readLines(ends[0], onLine)
        }
        let code: Int32? = if case .code(let code) = process.wait() { code } else { nil }
        let errors = String(decoding: try work.read("stderr") ?? [], as: UTF8.self).split(separator: "\n")
        // The lines were passed on as they came.
        var text: [UInt8] = []
        if onLine == nil {
            text = try work.read("stdout") ?? []
        }
        return Outcome(code: code, output: String(decoding: text, as: UTF8.self), errors: errors.map(String.init))
    }

    /// Passes on lines until the program closes its end.
    private static func readLines(_ descriptor: Int32, _ onLine: (Substring) -> Void) {
        var line: [UInt8] = []
        var buffer: [UInt8] = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR {
                continue
            }
            guard count > 0 else { return }
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    onLine(Substring(decoding: line, as: UTF8.self))
                    line = []
                } else {
                    line.append(byte)
                }
            }
        }
    }

    /// Ends a program, and every later one, from another thread.
    final class Cancellation: Sendable {
        private let state = Mutex<(process: SpawnedProcess?, isCancelled: Bool)>((nil, false))

        func cancel() {
            state.withLock { state in
                state.isCancelled = true
                state.process?.send(SIGTERM, group: true)
            }
        }

        fileprivate func attach(_ process: SpawnedProcess) {
            state.withLock { state in
                state.process = process
                if state.isCancelled {
                    process.send(SIGTERM, group: true)
                }
            }
        }
    }
}
