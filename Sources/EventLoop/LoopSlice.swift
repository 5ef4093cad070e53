/// Divides long work on the loop, which needs the state of the loop's actor, into slices: between two of them the loop serves
/// everything else that is due.
///
/// State may change between two slices. Pure work belongs on a worker instead: see `PureWork`.
package struct LoopSlice {
    /// Length of a slice. Other work waits so long at most, if no single step takes longer.
    private static let length = Duration.milliseconds(5)
    private var began = ContinuousClock.now
    /// The time that the work may still take; nil for any.
    private var budget: Duration?

    /// Begins the first slice.
    /// - Parameter budget: the time that all slices may take together; nil for any.
    package init(budget: Duration? = nil) { self.budget = budget }

    /// False once the budget is used up, or the task is cancelled: then the work ends with what it has.
    package var mayGoOn: Bool { (budget ?? .zero) >= .zero && !Task.isCancelled }

    /// Ends the slice if it is long enough, and begins the next one after other work. Call it after each short step.
    @LoopActor package mutating func giveWay() async {
        let length = ContinuousClock.now - began
        guard length > Self.length else { return }
        budget? -= length
        // Not `Task.yield()`: that goes through the pool, which may be busy with `PureWork`.
        await withCheckedContinuation { continuation in Task { @LoopActor in continuation.resume() } }
        began = .now
    }
}
