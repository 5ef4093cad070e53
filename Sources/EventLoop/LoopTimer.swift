import CLibevent

/// A timer on the loop: fires once each time that it is scheduled.
///
/// Dropping it cancels it. The closure is kept until then: capture its owner weakly.
public struct LoopTimer: ~Copyable {
    private let event: LoopEvent

    /// A timer that is not scheduled yet.
    @LoopActor public init(_ fire: @escaping @LoopActor () -> Void) {
        event = LoopEvent(descriptor: -1, flags: weir_ev_timeout) { _ in fire() }
    }

    /// Fires `delay` from now; a call while it waits moves it.
    @LoopActor public func schedule(after delay: Duration) { event.add(timeout: delay) }

    /// Fires after the callback that runs now and those that are due already, before the loop looks at descriptors
    /// again: it costs no system call. A call while it waits so changes nothing.
    @LoopActor public func fireSoon() { event.activate(weir_ev_timeout) }

    /// Does not fire until it is scheduled again.
    @LoopActor public func cancel() { event.remove() }
}
