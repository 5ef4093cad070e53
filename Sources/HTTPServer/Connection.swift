import CLibevent
import EventLoop
import Glibc
import HTTPMessage

/// One client: the request that is being read, and the reply that is being sent; never more than one of each.
///
/// Input is read straight into the server's inbox and parsed there, since nearly every request comes in one piece:
/// libevent's buffered reading costs two more system calls and an allocation each time. Output that the socket does not
/// take at once waits in a bufferevent, files as segments. While a reply is pending a little more is read, to notice a
/// client that leaves, and then nothing. The server keeps the connection until `close`; exchanges may outlive that.
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
    let output: OpaquePointer
    private let writing: OpaquePointer
    private let reading: OpaquePointer
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
    /// What was read and is not used up yet.
    private var input: [UInt8] = []
    private var isReading = true
    private var reader: RequestReader
    private var isProcessing = false

    /// Takes over `descriptor`; nil, and the descriptor still the caller's, when there is no memory.
    init?(_ core: ServerCore, _ descriptor: Int32, peer: SocketAddress, requestGuard: RequestGuard) {
        let base = LoopActor.loop.base
        guard let writing = bufferevent_socket_new(base, descriptor, 0), let output = bufferevent_get_output(writing)
        else { return nil }
        // Its argument is set below, when there is something to point to.
        guard let reading = event_new(base, descriptor, weir_ev_read | weir_ev_persist, Self.readable, nil) else {
            bufferevent_free(writing)
            return nil
        }
        self.core = core
        self.descriptor = descriptor
        self.peer = peer
        self.requestGuard = requestGuard
        self.output = output
        self.writing = writing
        self.reading = reading
        timing = ConnectionTiming(now: core.now)
        reader = RequestReader(
            limits: core.configuration.request, longBody: core.configuration.longBody,
            admitsLongBody: core.configuration.admitsLongBody)
        let context = Unmanaged.passUnretained(self).toOpaque()
        event_assign(reading, base, descriptor, weir_ev_read | weir_ev_persist, Self.readable, context)
        event_add(reading, nil)
        bufferevent_setcb(writing, nil, Self.drained, Self.happened, context)
        // The default of 16 KiB would cost a large file a system call for each.
        bufferevent_set_max_single_write(writing, Self.writeBudget)
    }

    /// Most bytes written for one connection before another gets its turn.
    static let writeBudget = 2 << 20

    /// Most requests of one connection answered in a row.
    private static let pipelineBudget = 16

    /// Most bytes kept of what comes while a reply is pending, before reading stops; one reading may exceed it.
    private static let earlyInput = 16 * 1024

    /// Whether the client has nothing on its way.
    var isIdle: Bool { phase == .awaiting && !reader.isInside && input.isEmpty }

    /// Whether something has come behind the request that is being answered.
    var hasInput: Bool { !input.isEmpty }

    /// Ends the connection at once, and with it the reply under way. Does nothing the second time.
    func close(_ cause: ReplyEnd.Cause) {
        guard phase != .closed else { return }
        let hadReply = phase == .handling || phase == .replying
        phase = .closed
        if hadReply { endReply(cause) }
        event_free(reading)
        bufferevent_free(writing)
        Glibc.close(descriptor)
        core.connectionClosed(self)
    }
}

// MARK: - Requests

extension Connection {
    /// Reads and hands over what has come already, for as long as it can be answered at once.
    func process() {
        guard !isProcessing, !input.isEmpty else { return leaveIfDone() }
        let bytes = input
        input = []
        bytes.withUnsafeBytes { process($0) }
    }

    /// Takes requests off the front of `bytes`, and keeps the rest.
    private func process(_ bytes: UnsafeRawBufferPointer) {
        isProcessing = true
        var used = 0
        var budget = Self.pipelineBudget
        while phase == .awaiting, used < bytes.count, budget > 0 {
            budget -= 1
            let length = take(UnsafeRawBufferPointer(rebasing: bytes[used...]))
            guard length > 0 else { break }
            used += length
        }
        isProcessing = false
        if phase == .closed || phase == .lingering { return }
        if used < bytes.count { input.append(contentsOf: bytes[used...]) }
        if budget == 0, phase == .awaiting, !input.isEmpty {
            event_active(reading, Int32(weir_ev_read), 0)  // Goes on in the loop's next turn.
        } else {
            leaveIfDone()
        }
    }

    private func leaveIfDone() {
        if hasInputEnded, phase == .awaiting, !isProcessing { close(.clientLeft) }
    }

    /// Takes one request off the front, and answers how long it was; 0 when there is no whole one.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch reader.step(bytes) {
        case .incomplete: break
        case .incompleteUntilContinue: send("HTTP/1.1 100 Continue\r\n\r\n")
        case .request(let head, let length):
            dispatch(head, head.byteCount < length ? Array(bytes[head.byteCount..<length]) : [])
            return length
        case .refused(let error, let head):
            refuse(error.status, error.sentence, head)
            return bytes.count
        }
        timing.enter(reader.awaitsBody ? .idle : .head, now: core.now)
        return 0
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
        case .refused(let status, let sentence): return refuse(status, sentence, head)
        }
        if head.method == .options {
            reply(Preflight.answer(to: head, isListed: facts.origin != nil), .none, serial: serial)
        } else {
            core.handler(Exchange(head: head, body: body, connection: self, serial: serial))
        }
    }

    /// Answers what is not to be trusted any further: with a sentence, and by closing.
    private func refuse(_ status: HTTPStatus, _ sentence: String, _ request: RequestHead? = nil) {
        phase = .handling
        facts.wantsKeep = false
        reply.lingers = true
        guard let request, let refusal = core.configuration.refusal(request, status, sentence) else {
            return answer(status, sentence)
        }
        var head = ResponseHead(status)
        head.append(fieldsOf: refusal.fields)
        reply(head, .bytes(refusal.body), serial: serial)
    }

    /// Its exchange was dropped without a reply.
    func exchangeWasDropped(serial: Int) {
        guard phase == .handling, serial == self.serial else { return }
        answer(.internalServerError, "The request was not answered.")
    }

    private func answer(_ status: HTTPStatus, _ sentence: String) {
        var head = ResponseHead(status)
        head.append(.text)
        reply(head, .bytes([UInt8]("\(sentence)\n".utf8)), serial: serial)
    }
}

// MARK: - Events

extension Connection {
    private nonisolated static let readable: event_callback_fn = { _, _, context in
        guard let context else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { connection.read() }
    }

    private nonisolated static let drained: bufferevent_data_cb = { _, context in
        guard let context else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { connection.pump() }
    }

    private nonisolated static let happened: bufferevent_event_cb = { _, what, context in
        let number = errno
        guard let context else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        // A file that ends too soon looks to libevent like the end of the socket.
        let hasClientLeft = what & Int16(BEV_EVENT_ERROR) != 0 && number != EIO
        LoopActor.assumeIsolated { connection.close(hasClientLeft ? .clientLeft : .bodyFailed) }
    }

    private func read() {
        switch core.inbox.read(descriptor) {
        case .bytes(let count): accept(core.inbox.bytes(count))
        case .nothing: process()  // Woken for what was left of a long pipeline.
        case .end: inputEnded()
        case .failure: close(.clientLeft)
        }
    }

    private func accept(_ bytes: UnsafeRawBufferPointer) {
        switch phase {
        case .awaiting where input.isEmpty: process(bytes)
        case .awaiting:
            input.append(contentsOf: bytes)
            process()
        case .handling, .replying:
            input.append(contentsOf: bytes)
            if input.count > Self.earlyInput { pauseReading() }
        case .lingering, .closed: break
        }
    }

    private func pauseReading() {
        guard isReading else { return }
        isReading = false
        event_del(reading)
    }

    func resumeReading() {
        guard !isReading, !hasInputEnded else { return }
        isReading = true
        event_add(reading, nil)
    }

    /// The client has closed its side. One that has closed but one half may still want what is queued for it, and what
    /// it asked for in full, though not what is yet to come.
    private func inputEnded() {
        pauseReading()
        hasInputEnded = true
        if phase == .replying, evbuffer_get_length(output) > 0 { return }
        if phase == .awaiting, !input.isEmpty { return process() }
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
