import Foundation
import Glibc

package struct SystemCallError: Error, CustomStringConvertible {
    package let call: String
    package let code: Int32

    package init(_ call: String) {
        self.init(call, code: errno)
    }

    /// Creates an error for a call that returns its error code, such as `posix_spawn`.
    package init(_ call: String, code: Int32) {
        self.call = call
        self.code = code
    }

    package var description: String { call + ": " + String(cString: strerror(code)) }
}

package struct TimedOut: Error, CustomStringConvertible {
    /// The expected event, and the observed state.
    package let description: String

    /// Creates an error; `description` completes "did not see …".
    package init(_ description: String) {
        self.description = "did not see " + description
    }
}

/// Waits until a condition holds; throws ``TimedOut`` with `what` if it does not hold within the bound.
///
/// The condition is evaluated at once and then every few milliseconds, in the caller's isolation. One that takes long, such as a
/// command, is evaluated less often: what is waited for needs the processor more than the wait. Only a failing test takes the whole
/// bound, so bounds can be generous. Never wait for a fixed time instead.
package nonisolated(nonsending) func waitUntil(
    _ what: String, within bound: Duration = .seconds(15), _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + bound
    while true {
        let began = clock.now
        if try await condition() {
            return
        }
        let now = clock.now
        guard now < deadline else { throw TimedOut("\(what) within \(bound)") }
        try await clock.sleep(for: pause(after: now - began))
    }
}

/// The time until a condition is evaluated again that took `duration`: a tenth of the time goes into it, unless it takes long.
private func pause(after duration: Duration) -> Duration {
    min(max(.milliseconds(4), duration * 9), .milliseconds(100))
}

/// Opens again what this process has just closed. A child that is being spawned may hold the old one's lock for a moment.
///
/// - Parameter isLocked: true for the error that the lock causes.
package nonisolated(nonsending) func reopened<Value>(
    unless isLocked: (any Error) -> Bool, _ open: () throws -> Value
) async throws -> Value {
    var value: Value?
    try await waitUntil("a free lock") {
        do {
            value = try open()
        } catch let error where isLocked(error) {}
        return value != nil
    }
    guard let value else { throw TimedOut("a value") }
    return value
}

/// Runs blocking work on its own thread, so that concurrent tests do not wait for each other's system calls.
package func blocking<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
    }
}

/// A random number generator with a seed, reproducible on every machine (SplitMix64).
package struct SeededDice: RandomNumberGenerator {
    private var state: UInt64

    package init(state: UInt64) { self.state = state }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
