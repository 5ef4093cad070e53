import EventLoop
import Synchronization
import Testing

@LoopActor @Suite(.serialized) struct EventStreamTests {
    private let stream = EventStream<Int>()

    @Test func eventsReachAllSubscribersInOrderBeforeSendReturns() {
        var seen: [String] = []
        let first = stream.subscribe { seen.append("first \($0)") }
        let second = stream.subscribe { seen.append("second \($0)") }
        stream.send(1)
        #expect(seen == ["first 1", "second 1"])
        stream.send(2)
        #expect(seen == ["first 1", "second 1", "first 2", "second 2"])
        withExtendedLifetime((first, second)) {}
    }

    @Test func cancelledSubscriptionGetsNothing() {
        var seen: [Int] = []
        let subscription = stream.subscribe { seen.append($0) }
        stream.send(1)
        subscription.cancel()
        subscription.cancel()
        stream.send(2)
        #expect(seen == [1])
    }

    @Test func releaseEndsASubscriptionAtOnceOnTheLoop() {
        final class Token {}
        var seen: [Int] = []
        var subscription: Subscription?
        weak var captured: Token?
        do {
            let token = Token()
            captured = token
            subscription = stream.subscribe { event in
                _ = token
                seen.append(event)
            }
        }
        stream.send(1)
        #expect(captured != nil)
        subscription = nil
        stream.send(2)
        #expect(seen == [1])
        #expect(captured == nil)
        #expect(subscription == nil)
    }

    @Test func releaseOnAnotherThreadEndsASubscription() async {
        var seen: [Int] = []
        let holder = Holder(stream.subscribe { seen.append($0) })
        await holder.release()
        // The end of the subscription is queued before this job.
        await Task { @LoopActor in }.value
        stream.send(1)
        #expect(seen.isEmpty)
    }

    /// The only owner of a subscription.
    private final class Holder: Sendable {
        private let subscription: Mutex<Subscription?>
        init(_ subscription: Subscription) { self.subscription = Mutex(subscription) }

        @concurrent func release() async {
            #expect(!LoopActor.loop.isCurrent)
            subscription.withLock { $0 = nil }
        }
    }

    @Test func subscriberCancelledDuringDeliveryIsSkipped() {
        var seen: [Int] = []
        var second: Subscription?
        let first = stream.subscribe { _ in second?.cancel() }
        second = stream.subscribe { seen.append($0) }
        stream.send(1)
        stream.send(2)
        #expect(seen.isEmpty)
        withExtendedLifetime(first) {}
    }

    @Test func subscriberAddedDuringDeliveryGetsTheNextEvent() {
        var seen: [Int] = []
        var second: Subscription?
        let first = stream.subscribe { [stream] _ in
            if second == nil {
                second = stream.subscribe { seen.append($0) }
            }
        }
        stream.send(1)
        stream.send(2)
        #expect(seen == [2])
        withExtendedLifetime((first, second)) {}
    }

    @Test func eventSentByASubscriberIsDeliveredWithinTheFirst() {
        var seen: [String] = []
        let subscription = stream.subscribe { [stream] event in
            seen.append("begin \(event)")
            if event == 1 {
                stream.send(2)
            }
            seen.append("end \(event)")
        }
        stream.send(1)
        #expect(seen == ["begin 1", "begin 2", "end 2", "end 1"])
        withExtendedLifetime(subscription) {}
    }

    @Test func subscriptionOutlivesItsStream() {
        var stream: EventStream<Int>? = EventStream()
        let subscription = stream?.subscribe { _ in }
        stream = nil
        subscription?.cancel()
        #expect(stream == nil)
    }
}
