import CLibevent

/// Tells of a signal to the process, on the loop instead of in a signal handler.
///
/// libevent takes the signal over for as long as the watch lives; its former disposition then returns.
public struct SignalWatch: ~Copyable {
    private let event: LoopEvent

    /// Watches for `number` (as in signal(7)) from now on, until dropped.
    @LoopActor public init(_ number: Int32, arrived: @escaping @LoopActor () -> Void) {
        event = LoopEvent(descriptor: number, flags: weir_ev_signal | weir_ev_persist) { _ in arrived() }
        event.add()
    }
}
