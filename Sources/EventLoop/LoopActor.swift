/// The actor of everything that does I/O: its executor is one `EventLoop`.
///
/// Code of one `@LoopActor` type calls that of another directly, without suspending. Callbacks from C enter with
/// `assumeIsolated(_:)`.
@globalActor public actor LoopActor {
    /// The one instance, as a global actor has it.
    public static let shared = LoopActor()

    /// The loop behind the actor; started on first use, stopped by the program's end.
    public static let loop = makeLoop()

    /// Puts the actor's jobs on the loop.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { Self.loop.asUnownedSerialExecutor() }

    private static func makeLoop() -> EventLoop {
        do {
            return try EventLoop()
        } catch {
            preconditionFailure("\(error)")  // Without epoll or a thread there is no program to go on with.
        }
    }

    /// Runs `body` at once, as code of the actor. Traps off the loop's thread.
    ///
    /// What `MainActor.assumeIsolated` is to the main actor.
    public static func assumeIsolated<T: Sendable>(_ body: @LoopActor () throws -> T) rethrows -> T {
        precondition(loop.isCurrent, "This code belongs on the event loop's thread")
        typealias Isolated = @LoopActor () throws -> T
        typealias Plain = () throws -> T
        return try withoutActuallyEscaping(body) { (escaping: @escaping Isolated) throws -> T in
            try unsafeBitCast(escaping, to: Plain.self)()  // The isolation was just checked.
        }
    }
}
