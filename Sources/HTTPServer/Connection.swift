import CLibevent
import EventLoop
import Glibc
import HTTPMessage

/// One client: a bufferevent, the request that is being read, and the reply that is being sent; never more than one of each.
///
/// While a reply is pending nothing is taken from the input buffer, whose high watermark then stops the reading. The
/// server keeps the connection until `close`; exchanges may outlive that.
@LoopActor final class Connection {
    /// What the connection is doing.
    enum Phase {
        /// Reading a request.
        case awaiting
        /// A handler has a request.
        case handling
        /// A reply is on its way.
        case replying
        /// Everything is said; the client is to close.
        case lingering
        /// Gone.
        case closed
    }

    /// What of a request its reply depends on.
    struct RequestFacts {
        var method = HTTPMethod.get
        var version = HTTPVersion.http11
        var wantsKeep = false
        /// The Origin to echo, when it is a listed one.
        var origin: ArraySlice<UInt8>?
    }

    let core: ServerCore
    let peer: SocketAddress
    let requestGuard: RequestGuard
    let descriptor: Int32
    let event: OpaquePointer
    let input: OpaquePointer
    let output: OpaquePointer
    /// Where the server keeps this connection.
    var slot = 0
    var phase = Phase.awaiting
    var timing: ConnectionTiming
    var facts = RequestFacts()
    /// The reply that is being sent.
    var reply = ReplyProgress()
    /// Whom to tell of the end of the reply, once.
    var onEnd: (@LoopActor (ReplyEnd) -> Void)?
    /// Counts the requests; an exchange may only answer its own.
    private(set) var serial = 0
    /// The client has said that it will send no more.
    private(set) var hasInputEnded = false
    private var reader: RequestReader
    private var isProcessing = false

    /// Takes over `descriptor`; nil, and the descriptor still the caller's, when there is no memory.
    init?(_ core: ServerCore, _ descriptor: Int32, peer: SocketAddress, requestGuard: RequestGuard) {
        guard
            let event = bufferevent_socket_new(LoopActor.loop.base, descriptor, Int32(BEV_OPT_CLOSE_ON_FREE.rawValue)),
            let input = bufferevent_get_input(event), let output = bufferevent_get_output(event)
        else { return nil }
        self.core = core
        self.descriptor = descriptor
        self.peer = peer
        self.requestGuard = requestGuard
        self.event = event
        self.input = input
        self.output = output
        timing = ConnectionTiming(now: core.now)
        reader = RequestReader(limits: core.configuration.request)
        bufferevent_setcb(
            event, Self.readable, Self.drained, Self.happened, Unmanaged.passUnretained(self).toOpaque())
        // The default of 16 KiB would cost a large file a system call for each.
        bufferevent_set_max_single_write(event, Self.writeBudget)
        bufferevent_setwatermark(event, weir_ev_read, 0, Self.inputLimit(core.configuration.request))
        bufferevent_enable(event, weir_ev_read)
    }

    /// Most bytes written for one connection before another gets its turn.
    static let writeBudget = 2 << 20

    /// Most requests of one connection answered in a row.
    private static let pipelineBudget = 16

    /// Room for one request of the largest size.
    private static func inputLimit(_ limits: RequestLimits) -> Int {
        limits.requestLine + limits.headers + Int(limits.body) + 1_024
    }

    /// Whether the client has nothing on its way.
    var isIdle: Bool { phase == .awaiting && !reader.isInside }

    /// Ends the connection at once, and with it the reply under way. Does nothing the second time.
    func close(_ cause: ReplyEnd.Cause) {
        guard phase != .closed else { return }
        let hadReply = phase == .handling || phase == .replying
        phase = .closed
        if hadReply { endReply(cause) }
        bufferevent_free(event)
        core.connectionClosed(self)
    }
}

// MARK: - Requests

extension Connection {
    /// Reads and hands over requests for as long as they can be answered at once.
    func process() {
        guard !isProcessing else { return }
        isProcessing = true
        defer { isProcessing = false }
        var budget = Self.pipelineBudget
        while phase == .awaiting {
            let available = evbuffer_get_length(input)
            guard available > 0, let start = evbuffer_pullup(input, -1) else { break }
            guard budget > 0 else {
                bufferevent_trigger(event, weir_ev_read, Int32(BEV_TRIG_DEFER_CALLBACKS.rawValue))
                return
            }
            budget -= 1
            guard take(UnsafeRawBufferPointer(start: start, count: available)) else { break }
        }
        if phase == .awaiting, hasInputEnded { close(.clientLeft) }
    }

    /// Takes one request off the input; false when there is no whole one.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        switch reader.step(bytes) {
        case .incomplete: break
        case .incompleteUntilContinue: send("HTTP/1.1 100 Continue\r\n\r\n")
        case .request(let head, let length):
            let body = head.byteCount < length ? Array(bytes[head.byteCount..<length]) : []
            evbuffer_drain(input, length)
            dispatch(head, body)
            return true
        case .refused(let error):
            refuse(error.status, error.sentence)
            return true
        }
        timing.enter(reader.awaitsBody ? .idle : .head, now: core.now)
        return false
    }

    private func dispatch(_ head: RequestHead, _ body: [UInt8]) {
        serial += 1
        phase = .handling
        timing.enter(.handler, now: core.now)
        facts.method = head.method
        facts.version = head.version
        facts.wantsKeep =
            head.keepsConnection && serial < core.configuration.requestsPerConnection && !core.isStopping
        facts.origin = nil
        switch requestGuard.judge(head) {
        case .admitted: break
        case .admittedForOrigin: facts.origin = head.onlyValue(of: .origin)
        case .refused(let status, let sentence): return refuse(status, sentence)
        }
        if head.method == .options {
            reply(Preflight.answer(to: head, isListed: facts.origin != nil), .none, serial: serial)
        } else {
            core.handler(Exchange(head: head, body: body, connection: self, serial: serial))
        }
    }

    /// Answers what is not to be trusted any further: with a sentence, and by closing.
    func refuse(_ status: HTTPStatus, _ sentence: String) {
        evbuffer_drain(input, evbuffer_get_length(input))
        phase = .handling
        facts.wantsKeep = false
        reply.lingers = true
        var head = ResponseHead(status)
        head.append(.text)
        reply(head, .bytes([UInt8]("\(sentence)\n".utf8)), serial: serial)
    }

    /// Its exchange was dropped without a reply.
    func exchangeWasDropped(serial: Int) {
        guard phase == .handling, serial == self.serial else { return }
        var head = ResponseHead(.internalServerError)
        head.append(.text)
        reply(head, .bytes([UInt8]("The request was not answered.\n".utf8)), serial: serial)
    }
}

// MARK: - Events

extension Connection {
    private static let readable: bufferevent_data_cb = { _, context in
        guard let context else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { connection.inputArrived() }
    }

    private static let drained: bufferevent_data_cb = { _, context in
        guard let context else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { connection.pump() }
    }

    private static let happened: bufferevent_event_cb = { _, what, context in
        let number = errno
        guard let context else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { connection.ended(what, errno: number) }
    }

    private func inputArrived() {
        switch phase {
        case .awaiting: process()
        case .lingering: evbuffer_drain(input, evbuffer_get_length(input))
        case .handling, .replying, .closed: break
        }
    }

    /// The client has closed its side, or the socket failed.
    private func ended(_ what: Int16, errno number: Int32) {
        let isEndOfInput = what & Int16(BEV_EVENT_EOF) != 0 && what & Int16(BEV_EVENT_READING) != 0
        guard isEndOfInput else {
            // A file that ends too soon looks like the end of the socket to libevent.
            let hasClientLeft = what & Int16(BEV_EVENT_ERROR) != 0 && number != EIO
            return close(hasClientLeft ? .clientLeft : .bodyFailed)
        }
        hasInputEnded = true
        // A client that has closed but one half may still want what is queued for it, though not what is yet to come.
        if phase == .replying, evbuffer_get_length(output) > 0 { return }
        close(.clientLeft)
    }

    /// Called once a tick.
    func checkDeadline() {
        if timing.phase == .drain { timing.noteQueued(evbuffer_get_length(output), now: core.now) }
        guard timing.isOverdue(now: core.now, limits: core.limits) else { return }
        if phase == .awaiting, reader.isInside {
            refuse(.requestTimeout, "The request did not arrive in time.")
        } else {
            close(phase == .replying ? .clientStalled : .clientLeft)
        }
    }
}
