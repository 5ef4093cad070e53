import EventLoop
import HTTPServer

/// One client of the event stream, with a bounded queue.
@LoopActor final class EventReader: ReplyFeed {
    private weak var feed: EventFeed?
    let credential: Credential
    private let lastEventID: String?
    private let limit: Int
    private var waiting: [[UInt8]] = []
    private var bytes = 0
    private var isOver = false
    /// Makes the connection ask for the next messages: given by the server when it opens the stream.
    private var wake: () -> Void = {}

    /// True if the client's queue overflowed. The client gets no more of this response.
    private(set) var hasFailed = false

    /// - Parameter limit: maximum number of bytes in the queue.
    init(_ feed: EventFeed, of credential: Credential, lastEventID: String?, limit: Int) {
        self.feed = feed
        self.credential = credential
        self.lastEventID = lastEventID
        self.limit = limit
    }

    func send(_ message: [UInt8]) {
        guard !hasFailed, !isOver else { return }
        if bytes + message.count > limit {
            waiting = []
            hasFailed = true
        } else {
            waiting.append(message)
            bytes += message.count
        }
        wake()
    }

    /// Ends the stream after the queued messages are sent.
    func end() {
        isOver = true
        wake()
    }

    // MARK: ReplyFeed

    func open(wake: @escaping @LoopActor () -> Void) {
        guard let feed else { return isOver = true }
        self.wake = wake
        // The first messages may be long, but are written once, so they do not count towards the limit.
        waiting = feed.admit(self, after: lastEventID)
    }

    func next() -> ReplyFeedStep {
        guard !waiting.isEmpty else {
            guard isOver else { return .wait }
            return .end
        }
        let messages = waiting
        waiting = []
        bytes = 0
        // Usually one, which need not be copied.
        guard messages.count > 1 else { return .bytes(messages[0]) }
        return .bytes(Array(messages.joined()))
    }

    func close() {
        wake = {}
        waiting = []
        feed?.forget(self)
    }
}
