import EventLoop
import HTTPServer
import Library

/// A flight's file as the server wants to read it.
@LoopActor final class GrowingReply: GrowingBody {
    private let flight: Flight
    private var subscriptions: [ObjectIdentifier: Int] = [:]

    init(_ flight: Flight) { self.flight = flight }

    var descriptor: Int32 { flight.descriptor }
    var written: Int64 { flight.written }
    var fresh: UnsafeRawBufferPointer? { flight.fresh }

    var state: GrowingBodyState {
        guard let outcome = flight.outcome else { return .open }
        return if case .success = outcome { .complete } else { .failed }
    }

    func subscribe(_ reader: AnyObject, wake: @escaping @LoopActor () -> Void) {
        subscriptions[ObjectIdentifier(reader)] = flight.subscribe(wake)
    }

    func unsubscribe(_ reader: AnyObject) {
        if let id = subscriptions.removeValue(forKey: ObjectIdentifier(reader)) { flight.unsubscribe(id) }
    }
}
