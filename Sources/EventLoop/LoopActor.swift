/// The global actor of all I/O. Its executor is one `EventLoop`.
///
/// One `@LoopActor` type calls another directly, without suspending. C callbacks enter with `assumeIsolated(_:)`.
@globalActor public actor LoopActor {
    /// The shared instance.
    public static let shared = LoopActor()

    /// The loop that runs the actor. Started on first use; runs until the program ends.
    public static let loop = makeLoop()

    /// Runs the actor's jobs on the loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.loop.asUnownedSerialExecutor() }

    private static func makeLoop() -> EventLoop {
        do {
            return try EventLoop()
        } catch {
            preconditionFailure("\(error)")  // The program cannot run without epoll or a thread.
        }
    }

    /// Runs `body` at once as code of the actor, as `MainActor.assumeIsolated` does for the main actor. Traps off the
    /// loop's thread.
    public static func assumeIsolated<T: Sendable>(_ body: @LoopActor () throws -> T) rethrows -> T {
        precondition(loop.isCurrent, "This code must run on the event loop's thread")
        typealias Isolated = @LoopActor () throws -> T
        typealias Plain = () throws -> T
        return try withoutActuallyEscaping(body) { (escaping: @escaping Isolated) throws -> T in
            try unsafeBitCast(escaping, to: Plain.self)()  // The precondition above checked the isolation.
        }
    }
}
