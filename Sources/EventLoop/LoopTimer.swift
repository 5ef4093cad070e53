import CLibevent

/// A one-shot timer on the loop: fires once per schedule.
///
/// Dropping it cancels it. The closure is retained until then: capture its owner weakly.
public struct LoopTimer: ~Copyable {
    private let event: LoopEvent

    /// Creates an unscheduled timer.
    @LoopActor public init(_ fire: @escaping @LoopActor () -> Void) {
        event = LoopEvent(descriptor: -1, flags: weir_ev_timeout) { _ in fire() }
    }

    /// Fires after `delay`; replaces a pending schedule.
    @LoopActor public func schedule(after delay: Duration) { event.add(timeout: delay) }

    /// Fires after the current callback and those that are already due, before the loop polls descriptors again. It
    /// costs no system call. Repeated calls fire once.
    @LoopActor public func fireSoon() { event.activate(weir_ev_timeout) }

    /// Cancels a pending schedule.
    @LoopActor public func cancel() { event.remove() }
}
