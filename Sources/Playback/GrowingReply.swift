import EventLoop
import Fetching
import HTTPServer
import Library

/// Adapts a fetch's growing file to the server's interface.
@LoopActor final class GrowingReply: GrowingBody {
    private let fetch: Fetch
    private var subscriptions: [ObjectIdentifier: Int] = [:]

    init(_ fetch: Fetch) { self.fetch = fetch }

    var descriptor: Int32 { fetch.descriptor }
    var written: Int64 { fetch.written }
    var fresh: UnsafeRawBufferPointer? { fetch.fresh }

    var state: GrowingBodyState {
        guard let outcome = fetch.outcome else { return .open }
        return if case .success = outcome { .complete } else { .failed }
    }

    func subscribe(_ reader: AnyObject, wake: @escaping @LoopActor () -> Void) {
        subscriptions[ObjectIdentifier(reader)] = fetch.subscribe(wake)
    }

    func unsubscribe(_ reader: AnyObject) {
        if let id = subscriptions.removeValue(forKey: ObjectIdentifier(reader)) { fetch.unsubscribe(id) }
    }
}
