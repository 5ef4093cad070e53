/// Notifies several subscribers of events of one type.
///
/// `send(_:)` calls the subscribers directly, in the order in which they subscribed, and returns after the last one. A
/// subscriber may subscribe, cancel and send from within its call. An event sent from there is delivered at once, within
/// the delivery of the first event; subscribers that come later in order get it before the first one.
@LoopActor public final class EventStream<Event> {
    /// One subscriber: the closure goes with its cancellation, even while an event is being delivered.
    @usableFromInline final class Subscriber {
        @usableFromInline var receive: (@LoopActor (Event) -> Void)?
        init(_ receive: @escaping @LoopActor (Event) -> Void) { self.receive = receive }
    }

    @usableFromInline private(set) var subscribers: [Subscriber] = []
    /// Makes a stream without subscribers.
    public init() {}

    /// Calls `receive` with each event that is sent from now on, until the subscription is cancelled or released.
    ///
    /// The stream keeps the closure: capture its owner weakly. An event in delivery does not reach a new subscriber.
    public func subscribe(_ receive: @escaping @LoopActor (Event) -> Void) -> Subscription {
        let subscriber = Subscriber(receive)
        subscribers.append(subscriber)
        return Subscription { [weak self] in
            subscriber.receive = nil
            self?.subscribers.removeAll { $0 === subscriber }
        }
    }

    /// Delivers an event to all subscribers before it returns.
    ///
    /// Inlinable, so that the type of the event is known: otherwise each call looks up the type of the subscribers.
    @inlinable public func send(_ event: Event) {
        for subscriber in subscribers {
            subscriber.receive?(event)
        }
    }
}

/// Membership among the subscribers of an event stream. Keep it for as long as events are needed.
///
/// May be released on any thread; off the loop, the subscription ends a moment later.
@LoopActor public final class Subscription {
    private let end: @LoopActor () -> Void
    init(_ end: @escaping @LoopActor () -> Void) { self.end = end }

    deinit {
        let end = end
        if LoopActor.loop.isCurrent {
            LoopActor.assumeIsolated { end() }
        } else {
            Task { @LoopActor in end() }
        }
    }

    /// Ends the subscription at once: the closure is not called again, and is released. A second call does nothing.
    public func cancel() { end() }
}
