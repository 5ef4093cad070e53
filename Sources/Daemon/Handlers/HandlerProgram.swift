internal import EventLoop
internal import Glibc
import SafeText
internal import Subprocess
internal import Synchronization

/// One run of a handler's program, on a thread of its own.
final class HandlerProgram: Sendable {
    enum Outcome: Equatable, Sendable {
        case output([UInt8])
        /// A sentence without a full stop.
        case failure(String)
    }

    /// Most bytes of its output: a playlist of 1,000,000 segments has 20 to 60 MB.
    static let outputLimit = 64 << 20
    /// Most bytes of its standard error that are read.
    private static let errorLimit = 64 << 10
    /// Seconds until it is ended.
    private let timeLimit: Int
    static let usualTimeLimit = 30

    private var lateness: String { "it did not end within \(timeLimit) s" }

    /// Most bytes of its output.
    private let limit: Int
    private let state = Mutex<(process: SpawnedProcess?, reason: String?)>((nil, nil))

    /// The program's standard input.
    private let input: [UInt8]

    init(timeLimit: Int = usualTimeLimit, limit: Int = outputLimit, input: [UInt8] = []) {
        self.timeLimit = timeLimit
        self.limit = limit
        self.input = input
    }

    /// Runs a program to its end.
    /// - Parameters:
    ///   - words: the program and its arguments.
    ///   - variables: its whole environment, as `NAME=VALUE`.
    func run(_ words: [String], variables: [String]) async -> Outcome {
        // A program may close its output and go on.
        let watchdog = Task {
            try? await LoopActor.pause(for: .seconds(timeLimit))
            if !Task.isCancelled {
                end(lateness)
            }
        }
        defer { watchdog.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Self.thread { continuation.resume(returning: self.runHere(words, variables)) }
            }
        } onCancel: {
            end("nobody waits for it any more")
        }
    }

    /// Ends the program, from any thread.
    func end(_ reason: String) {
        state.withLock { state in
            if state.reason == nil {
                state.reason = reason
            }
            state.process?.send(SIGKILL, group: true)
        }
    }

    private func runHere(_ words: [String], _ variables: [String]) -> Outcome {
        var output: [Int32] = [-1, -1]
        var errors: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &output) == 0 else { return .failure(String(cString: strerror(errno))) }
        guard socketpair(AF_UNIX, kind, 0, &errors) == 0 else {
            output.forEach { _ = close($0) }
            return .failure(String(cString: strerror(errno)))
        }
        defer {
            close(output[0])
            close(errors[0])
        }
        guard let source = Self.source(of: input) else { return .failure(String(cString: strerror(errno))) }
        defer { close(source) }
        let process: SpawnedProcess
        do {
            defer {
                close(output[1])
                close(errors[1])
            }
            process = try SpawnedProcess(
                words, variables: variables,
                streams: (.descriptor(source), .descriptor(output[1]), .descriptor(errors[1])),
                leadsGroup: true)
        } catch {
            return .failure("\(words[0]) could not be started: \(String(cString: strerror(error.code)))")
        }
        let isEnded = state.withLock { state in
            state.process = process
            return state.reason != nil
        }
        if isEnded {
            process.send(SIGKILL, group: true)
        }
        var text: [UInt8] = []
        var complaints: [UInt8] = []
        read(output[0], into: &text, errors[0], into: &complaints)
        let exit = process.wait()
        if let reason = state.withLock({ $0.reason }) {
            return .failure(reason)
        }
        if exit == .code(0) {
            return .output(text)
        }
        let last = String(decoding: complaints, as: UTF8.self).split(whereSeparator: \.isNewline).last.map(String.init)
        let end = if case .code(let code) = exit { "exit code \(code)" } else { "a signal ended it" }
        guard let last else { return .failure(end) }
        return .failure("\(end): \(last.prefix(200))")
    }

    /// A file without a name that has the input: nobody has to wait for a program that does not read it.
    private static func source(of input: [UInt8]) -> Int32? {
        guard !input.isEmpty else {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            return descriptor
        }
        guard let file = tmpfile() else { return nil }
        let descriptor = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0)
        fclose(file)
        guard descriptor >= 0 else { return nil }
        guard write(descriptor, input, input.count) == input.count, lseek(descriptor, 0, SEEK_SET) == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    /// Reads both streams until the program closes them, or the limits are reached.
    private func read(_ output: Int32, into text: inout [UInt8], _ errors: Int32, into words: inout [UInt8]) {
        var open = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
        ]
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let deadline = ContinuousClock.now + .seconds(timeLimit)
        while open.contains(where: { $0.fd >= 0 }) {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return end(lateness) }
            let milliseconds = Int32(left.components.seconds * 1_000 + 1)
            guard poll(&open, nfds_t(open.count), milliseconds) >= 0 || errno == EINTR else { return }
            for index in open.indices where open[index].fd >= 0 && open[index].revents != 0 {
                let count = Glibc.read(open[index].fd, &buffer, buffer.count)
                if count < 0, errno == EINTR {
                    continue
                }
                guard count > 0 else {
                    open[index].fd = -1
                    continue
                }
                if index == 1 {
                    if words.count < Self.errorLimit {
                        words += buffer[..<count]
                    }
                } else {
                    text += buffer[..<count]
                    guard text.count <= limit else {
                        return end("it wrote more than \(Quantity.bytes(Int(limit)))")
                    }
                }
            }
        }
    }

    private static func thread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Body(body)).toOpaque()
        let code = pthread_create(
            &thread, nil,
            { context in
                context.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().body() }
                return nil
            }, context)
        if code == 0 {
            pthread_detach(thread)
        } else {
            Unmanaged<Body>.fromOpaque(context).takeRetainedValue().body()
        }
    }

    private final class Body {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
