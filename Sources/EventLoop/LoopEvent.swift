import CLibevent

/// Owns one libevent event and the closure that it calls.
/// The watches wrap it. It may be dropped on any thread: the event is freed on the loop's.
struct LoopEvent: ~Copyable {
    final class Action {
        let run: @LoopActor (Int16) -> Void
        init(_ run: @escaping @LoopActor (Int16) -> Void) { self.run = run }
    }

    private let event: OpaquePointer
    private let action: Unmanaged<Action>

    private static let fired: @convention(c) (Int32, Int16, UnsafeMutableRawPointer?) -> Void = { _, what, context in
        guard let context else { return }
        // libevent calls on the loop's thread only.
        nonisolated(unsafe) let action = Unmanaged<Action>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { action.run(what) }
    }

    @LoopActor init(descriptor: Int32, flags: Int16, _ run: @escaping @LoopActor (Int16) -> Void) {
        action = Unmanaged.passRetained(Action(run))
        let made = event_new(LoopActor.loop.base, descriptor, flags, Self.fired, action.toOpaque())
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

    /// Arms the event.
    @LoopActor func add() { event_add(event, nil) }
}

extension timeval {
    /// The duration rounded up to whole microseconds, at least zero.
    fileprivate init(_ duration: Duration) {
        // One division of 128 bits, where `components` needs two.
        let microseconds = Int((max(duration, .zero).attoseconds + 999_999_999_999) / 1_000_000_000_000)
        self.init(tv_sec: microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
    }
}

/// A one-shot timer on the loop: fires once per schedule.
///
/// Dropping it cancels it. The closure is retained until then: capture its owner weakly.
public struct LoopTimer: ~Copyable {
    private let event: TimerEvent

    /// Creates an unscheduled timer.
    @LoopActor public init(_ fire: @escaping @LoopActor () -> Void) { event = TimerEvent.acquire(fire) }

    deinit {
        let event = event
        if LoopActor.loop.isCurrent {
            LoopActor.assumeIsolated { event.release() }
        } else {
            Task { @LoopActor in event.release() }
        }
    }

    /// Fires after `delay`; replaces a pending schedule.
    @LoopActor public func schedule(after delay: Duration) { event.add(timeout: delay) }
    /// Fires after the callbacks that are already due, before those of descriptors that become ready later. Repeated calls
    /// fire once.
    @LoopActor public func fireSoon() { event.activate() }
    /// Cancels a pending schedule.
    @LoopActor public func cancel() { event.remove() }
}

/// The event of a timer. The next timer uses it again: each request has several, which live as long as it does.
@LoopActor private final class TimerEvent {
    private static var idle: [TimerEvent] = []
    private static let mostIdle = 64

    /// The event in libevent, which refers to this object. Freed with its last timer, on the loop.
    private let event: OpaquePointer
    private var fire: (@LoopActor () -> Void)?

    private static let fired: @convention(c) (Int32, Int16, UnsafeMutableRawPointer?) -> Void = { _, _, context in
        guard let context else { return }
        // libevent calls on the loop's thread only.
        let timer = Unmanaged<TimerEvent>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { timer.fire?() }
    }

    private init() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: event_get_struct_event_size(), alignment: 16)
        event = OpaquePointer(memory)
        event_assign(
            event, LoopActor.loop.base, -1, weir_ev_timeout, Self.fired, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Returns the event of a new timer.
    static func acquire(_ fire: @escaping @LoopActor () -> Void) -> TimerEvent {
        let event = idle.popLast() ?? TimerEvent()
        event.fire = fire
        return event
    }

    /// Takes the event of a timer that is dropped.
    func release() {
        event_del(event)
        fire = nil
        if Self.idle.count < Self.mostIdle {
            Self.idle.append(self)
        } else {
            UnsafeMutableRawPointer(event).deallocate()
        }
    }

    func add(timeout: Duration) {
        var value = timeval(timeout)
        event_add(event, &value)
    }

    func activate() { event_active(event, Int32(weir_ev_timeout), 0) }
    func remove() { event_del(event) }
}

/// Reports when a descriptor is readable or writable (level-triggered).
///
/// Borrows the descriptor: drop the watch before you close it. The closure is retained until then: capture its owner weakly.
public struct DescriptorWatch: ~Copyable {
    /// Readiness that a watch waits for or reports.
    public struct Interest: OptionSet, Sendable {
        /// The bits; meaningless outside this type.
        public let rawValue: Int16
        /// Creates a set from its bits.
        public init(rawValue: Int16) { self.rawValue = rawValue }
        /// Data, an end of file or an error can be read.
        public static let reading = Interest(rawValue: 2)
        /// Bytes can be written.
        public static let writing = Interest(rawValue: 4)
    }

    private let event: LoopEvent

    /// Starts to watch; dropping the watch stops it.
    @LoopActor public init(
        _ descriptor: Int32, for interest: Interest, ready: @escaping @LoopActor (Interest) -> Void
    ) {
        event = LoopEvent(descriptor: descriptor, flags: interest.rawValue | weir_ev_persist) { what in
            ready(Interest(rawValue: what).intersection([.reading, .writing]))
        }
        event.add()
    }
}

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
