public import EventLoop
public import HTTPMessage

/// One request and the right to answer it, once: at once, or later.
///
/// Dropped without a reply, it is answered 500, so that no client waits for ever.
@LoopActor public final class Exchange {
    /// The request's head, checked.
    public let head: RequestHead
    /// The request's whole body; empty when it has none.
    public let body: [UInt8]
    /// What stood before the target that the head has, and stands before each URL that is to lead here again; empty as a
    /// rule.
    public let mount: String
    private let connection: Connection
    private let serial: Int
    private var isAnswered = false

    init(head: RequestHead, body: [UInt8], mount: String = "", connection: Connection, serial: Int) {
        self.head = head
        self.mount = mount
        self.body = body
        self.connection = connection
        self.serial = serial
    }

    deinit {
        guard !isAnswered else { return }  // Nearly always; an isolated deinit would cost each request its check.
        let (connection, serial) = (connection, serial)
        Task { @LoopActor in connection.exchangeWasDropped(serial: serial) }
    }

    /// Lets another exchange answer the same request, with another head.
    func handOn(head: RequestHead, mount: String) -> Exchange {
        isAnswered = true
        return Exchange(head: head, body: body, mount: mount, connection: connection, serial: serial)
    }

    /// Whether a reply can still reach the client.
    public var isOpen: Bool { connection.serial == serial && connection.phase != .closed }

    /// Called once, when every byte of the reply has been given to the system, or when it became clear that this will
    /// not happen, the client's leaving before the reply included. To be set before `reply`.
    public var onEnd: (@LoopActor (ReplyEnd) -> Void)? {
        get { isOpen ? connection.onEnd : nil }
        set { if isOpen, !isAnswered { connection.onEnd = newValue } }
    }

    /// Answers. Date, Content-Length or Transfer-Encoding, Connection and the fields about origins are added; on HEAD
    /// the body is left out. A second reply, and one to a client that has left, does nothing.
    public func reply(_ head: ResponseHead, _ body: consuming ReplyBody = .none) {
        guard !isAnswered else { return }
        isAnswered = true
        connection.reply(head, body, serial: serial)
    }

    /// Answers with a sentence for a person, as text.
    public func reply(_ status: HTTPStatus, _ sentence: String) {
        var head = ResponseHead(status)
        head.append(.text)
        reply(head, .bytes([UInt8]("\(sentence)\n".utf8)))
    }
}
