import CLibevent

/// The owner of one libevent event and of the closure that it calls.
///
/// The timer and the watches are thin names over it. May be dropped on any thread: the event is freed on the loop's.
struct LoopEvent: ~Copyable {
    /// What libevent holds a pointer to.
    final class Action {
        let run: @LoopActor (Int16) -> Void
        init(_ run: @escaping @LoopActor (Int16) -> Void) { self.run = run }
    }

    private let event: OpaquePointer
    private let action: Unmanaged<Action>

    @LoopActor init(descriptor: Int32, flags: Int16, _ run: @escaping @LoopActor (Int16) -> Void) {
        action = Unmanaged.passRetained(Action(run))
        let made = event_new(
            LoopActor.loop.base, descriptor, flags,
            { _, what, context in
                guard let context else { return }
                // libevent calls on the loop's thread alone.
                nonisolated(unsafe) let action = Unmanaged<Action>.fromOpaque(context).takeUnretainedValue()
                LoopActor.assumeIsolated { action.run(what) }
            }, action.toOpaque())
        guard let made else { preconditionFailure("out of memory for an event") }
        event = made
    }

    deinit {
        // Nobody else has them any more: the last owner hands both to the loop's thread, or is on it.
        nonisolated(unsafe) let event = event
        nonisolated(unsafe) let action = action
        if LoopActor.loop.isCurrent {
            event_free(event)
            action.release()
        } else {
            Task { @LoopActor in
                event_free(event)
                action.release()
            }
        }
    }

    /// Arms the event; with `timeout`, it fires with `EV_TIMEOUT` when nothing else happens for so long.
    @LoopActor func add(timeout: Duration? = nil) {
        guard let timeout else {
            event_add(event, nil)
            return
        }
        var value = timeval(timeout)
        event_add(event, &value)
    }

    /// Runs the closure once in this very turn of the loop, after the callbacks that are due already.
    @LoopActor func activate(_ what: Int16) { event_active(event, Int32(what), 0) }

    @LoopActor func remove() { event_del(event) }
}

extension timeval {
    /// The duration rounded up to whole microseconds; nothing below zero.
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = max(duration, .zero).components
        let microseconds = (attoseconds + 999_999_999_999) / 1_000_000_000_000
        self.init(tv_sec: Int(seconds + microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
    }
}
