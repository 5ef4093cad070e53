/// Gives the memory of a large value back on another thread: for a million elements that takes a tenth of a second, wherever the last
/// user happens to be.
package func releaseElsewhere(_ value: some Sendable) {
    Task.detached(priority: .utility) { withExtendedLifetime(value) {} }
}
