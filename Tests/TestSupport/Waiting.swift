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
/// The condition is evaluated at once and then every few milliseconds, in the caller's isolation. Only a failing test
/// takes the whole bound, so bounds can be generous. Never wait for a fixed time instead.
package nonisolated(nonsending) func waitUntil(
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
