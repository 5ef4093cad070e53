import Foundation
import Glibc

/// A system call that failed, with its `errno`.
public struct SystemCallError: Error, CustomStringConvertible {
    /// The call's name.
    public let call: String
    /// The value of `errno`.
    public let code: Int32

    /// Takes `errno` as it is now.
    public init(_ call: String) {
        self.init(call, code: errno)
    }

    /// For calls that return their error, as `posix_spawn` does.
    public init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    /// As in "bind: Address already in use".
    public var description: String { call + ": " + String(cString: strerror(code)) }
}

/// Something did not come within its bound.
public struct TimedOut: Error, CustomStringConvertible {
    /// What was waited for, and what was seen instead.
    public let description: String

    /// `description` completes "did not see …".
    public init(_ description: String) {
        self.description = "did not see " + description
    }
}

/// Waits until a condition holds; throws ``TimedOut`` naming `what` when it does not within the bound.
///
/// The condition is asked at once and then every few milliseconds. Its cost is the bound only in a test that fails, so
/// bounds can be generous; waiting for a fixed time instead is never right. It runs, and asks, where its caller runs.
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

/// Runs blocking work on a thread of its own, so that tests that run side by side never wait for each other's system
/// calls.
public func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}
