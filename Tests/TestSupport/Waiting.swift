import Foundation
import Glibc

/// A failed system call, with its `errno`.
public struct SystemCallError: Error, CustomStringConvertible {
    /// Name of the call.
    public let call: String
    /// The value of `errno`.
    public let code: Int32

    /// Creates an error from the current `errno`.
    public init(_ call: String) {
        self.init(call, code: errno)
    }

    /// Creates an error for a call that returns its error code, such as `posix_spawn`.
    public init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// Call and message, as in "bind: Address already in use".
    public var description: String { call + ": " + String(cString: strerror(code)) }
}

/// An expected event did not occur within its bound.
public struct TimedOut: Error, CustomStringConvertible {
    /// The expected event, and the observed state.
    public let description: String

    /// Creates an error; `description` completes "did not see …".
    public init(_ description: String) {
        self.description = "did not see " + description
    }
}

/// Waits until a condition holds; throws ``TimedOut`` with `what` if it does not hold within the bound.
///
/// The condition is evaluated at once and then every few milliseconds, in the caller's isolation. Only a failing test
/// takes the whole bound, so bounds can be generous. Never wait for a fixed time instead.
public nonisolated(nonsending) func waitUntil(
    _ what: String, within bound: Duration = .seconds(15), _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + bound
    while try await !condition() {
        guard clock.now < deadline else { throw TimedOut("\(what) within \(bound)") }
        try await clock.sleep(for: .milliseconds(4))
    }
}

/// Runs blocking work on its own thread, so that concurrent tests do not wait for each other's system calls.
public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
