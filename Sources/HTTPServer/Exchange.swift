public import EventLoop
public import HTTPMessage
import SafeText

/// One request and the right to answer it once, at once or later.
///
/// An exchange dropped without a reply is answered 500, so that no client waits forever.
@LoopActor public final class Exchange {
    /// The validated head.
    public let head: RequestHead
    /// The complete body; empty without one.
    public let body: [UInt8]
    /// The prefix removed from the target, to be prepended to each URL that must route back here. Usually empty.
    public let mount: String
    let connection: Connection
    private let serial: Int
    private var isAnswered = false
    /// True if the head was sent before the body was known.
    public private(set) var isBegun = false

    init(head: RequestHead, body: [UInt8], mount: String = "", connection: Connection, serial: Int) {
        self.head = head
        self.mount = mount
        self.body = body
        self.connection = connection
        self.serial = serial
    }

    deinit {
        guard !isAnswered else { return }  // The usual case; an isolated deinit would cost every request a check.
        let connection = connection
        let serial = serial
        Task { @LoopActor in connection.exchangeWasDropped(serial: serial) }
    }

    /// Transfers the right to answer to another exchange with another head.
    func transferred(head: RequestHead, mount: String) -> Exchange {
        isAnswered = true
        return Exchange(head: head, body: body, mount: mount, connection: connection, serial: serial)
    }

    /// True if a reply can still reach the client.
    public var isOpen: Bool { connection.serial == serial && connection.phase != .closed }

    /// True if the client is a process of the daemon's user, of root or of a user of the configuration on this machine.
    public var isFromOwner: Bool { isOpen && connection.client.ownership == .owner }

    /// True if the client is a process of any other user of this machine, and has sent no secret of the owner's. Also true for a
    /// client that has left, whose rights are not known any more.
    public var isFromOtherUser: Bool { !isOpen || connection.facts.isFromOtherUser }

    /// Lets the client stop reading the reply for as long as it likes, as the owner's programs may: the request has a secret of the
    /// owner's.
    public func allowPauses() {
        if isOpen {
            connection.facts.mayPause = true
        }
    }

    /// Makes the connection a member of a group until it closes or a later request on it joins another group.
    public func join(_ group: ConnectionGroup) {
        if isOpen {
            connection.join(group)
        }
    }

    /// Number of bytes of the reply's body that the system has accepted; 0 before the reply and after its end.
    public var sentBytes: Int64 {
        guard isOpen else { return 0 }
        return connection.sentBytes
    }

    /// Calls back once, when the system has accepted every byte of the reply, or when that has become impossible, for
    /// instance because the client left before the reply. Call it before `reply`; a later call replaces an earlier one.
    public func whenEnded(_ body: @escaping @LoopActor (ReplyEnd) -> Void) {
        if isOpen, !isAnswered {
            connection.onEnd = body
        }
    }

    /// Sends the reply. The server adds Date, Content-Length or Transfer-Encoding, Connection and the CORS fields; on
    /// HEAD it omits the body. Does nothing for a second reply, or if the client has left.
    public func reply(_ head: ResponseHead, _ body: consuming ReplyBody = .none) {
        guard !isAnswered else { return }
        isAnswered = true
        connection.reply(head, body, serial: serial)
    }

    /// Sends the head of a reply to a GET before its body is known, so that the client waits for nothing but bytes. `reply` sends
    /// the body then, which must be whole; its own head is dropped. If that is an error, the connection closes in the middle of
    /// the body. Does nothing for a second time, after the reply, or if the client has left.
    public func begin(_ head: ResponseHead) {
        guard !isAnswered, !isBegun, self.head.method == .get else { return }
        isBegun = true
        connection.begin(head, serial: serial)
    }

    /// Replies with one sentence as plain text.
    public func reply(_ status: HTTPStatus, _ sentence: String) {
        var head = ResponseHead(status)
        head.append(.text)
        reply(head, .bytes([UInt8]("\(Printable.lines(sentence))\n".utf8)))
    }

    /// Removes a prefix of the path and transfers the right to answer to the new exchange; this one can no longer reply.
    /// - Parameter count: length of a prefix of the path that ends before a slash.
    public func mounted(behind count: Int) -> Exchange {
        let mount = String(decoding: head.targetBytes.prefix(count), as: UTF8.self)
        return transferred(head: head.mounted(behind: count), mount: mount)
    }
}
