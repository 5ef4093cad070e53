import CLibevent

/// Reports a signal to the process on the loop, not in a signal handler.
///
/// libevent handles the signal as long as the watch exists; then the former disposition returns.
public struct SignalWatch: ~Copyable {
    private let event: LoopEvent

    /// Starts to watch for `number` (signal(7)); dropping the watch stops it.
    @LoopActor public init(_ number: Int32, arrived: @escaping @LoopActor () -> Void) {
        event = LoopEvent(descriptor: number, flags: weir_ev_signal | weir_ev_persist) { _ in arrived() }
        event.add()
    }
}
