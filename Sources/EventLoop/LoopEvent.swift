import CLibevent

/// Owns one libevent event and the closure that it calls.
///
/// The timer and the watches wrap it. It may be dropped on any thread: the event is freed on the loop's.
struct LoopEvent: ~Copyable {
    /// The object behind libevent's context pointer.
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
                // libevent calls on the loop's thread only.
                nonisolated(unsafe) let action = Unmanaged<Action>.fromOpaque(context).takeUnretainedValue()
                LoopActor.assumeIsolated { action.run(what) }
            }, action.toOpaque())
        guard let made else { preconditionFailure("out of memory for an event") }
        event = made
    }

    deinit {
        // This was the last owner, so nothing else uses either pointer: free both here or on the loop's thread.
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

    /// Arms the event. With `timeout`, it fires with `EV_TIMEOUT` if nothing else happens in that time.
    @LoopActor func add(timeout: Duration? = nil) {
        guard let timeout else {
            event_add(event, nil)
            return
        }
        var value = timeval(timeout)
        event_add(event, &value)
    }

    /// Runs the closure once in this turn of the loop, after the callbacks that are already due.
    @LoopActor func activate(_ what: Int16) { event_active(event, Int32(what), 0) }

    @LoopActor func remove() { event_del(event) }
}

extension timeval {
    /// The duration rounded up to whole microseconds, at least zero.
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = max(duration, .zero).components
        let microseconds = (attoseconds + 999_999_999_999) / 1_000_000_000_000
        self.init(tv_sec: Int(seconds + microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
    }
}
