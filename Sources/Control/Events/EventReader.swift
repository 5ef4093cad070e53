import EventLoop
import HTTPServer

/// One client of the event stream: what waits for it, bounded.
@LoopActor final class EventReader: ReplyFeed {
    private weak var feed: EventFeed?
    private let lastEventID: String?
    private let limit: Int
    private var waiting: [[UInt8]] = []
    private var bytes = 0
    private var isOver = false
    private var wake: () -> Void = {}

    /// True if more waited for the client than it may: it hears no more of this reply.
    private(set) var hasFailed = false

    /// - Parameter limit: the most bytes that may wait.
    init(_ feed: EventFeed, lastEventID: String?, limit: Int) {
        self.feed = feed
        self.lastEventID = lastEventID
        self.limit = limit
    }

    // MARK: The feed's side

    /// Sends a message whose bytes all readers share.
    func send(_ message: [UInt8]) {
        guard !hasFailed, !isOver else { return }
        if bytes + message.count > limit {
            (waiting, hasFailed) = ([], true)
        } else {
            waiting.append(message)
            bytes += message.count
        }
        wake()
    }

    /// Says no more; what waits is still sent.
    func end() {
        isOver = true
        wake()
    }

    // MARK: ReplyFeed

    func open(wake: @escaping @LoopActor () -> Void) {
        guard let feed else { return isOver = true }
        self.wake = wake
        // What it begins with may be long, and is not counted: it is written once.
        waiting = feed.admit(self, after: lastEventID)
    }

    func next() -> ReplyFeedStep {
        guard !waiting.isEmpty else { return isOver ? .end : .wait }
        let messages = waiting
        (waiting, bytes) = ([], 0)
        return .bytes(messages.count == 1 ? messages[0] : Array(messages.joined()))
    }

    func close() {
        wake = {}
        waiting = []
        feed?.forget(self)
    }
}
