import CLibevent
import EventLoop
import Glibc
import HTTPMessage

/// One client connection with at most one request being read and one reply being sent.
///
/// Input is read directly into the server's shared buffer and parsed there, since nearly every request arrives in one piece:
/// libevent's buffered reading costs two more system calls and an allocation each time. Output that the socket does not accept
/// at once waits in a bufferevent, files as segments. While a reply is pending, the connection reads a little more to notice a
/// client that leaves, then stops reading. The server keeps the connection until `close`; exchanges may outlive it.
@LoopActor final class Connection {
    enum Phase {
        case awaiting, handling, replying, lingering, closed
    }

    struct RequestFacts {
        var method = HTTPMethod.get
        var version = HTTPVersion.http11
        var mayKeep = false
        /// The Origin to echo; nil unless it is an allowed one.
        var origin: ArraySlice<UInt8>?
        /// True if another user of this machine has sent the request, without a secret of the owner's.
        var isFromOtherUser = false
        /// True if the client may stop reading the reply for as long as it likes: a player of the owner's may be paused.
        var mayPause = false
    }

    /// The other end of a connection.
    struct Client {
        let address: SocketAddress
        let user: PeerUser
        let ownership: Ownership
        var key: ClientKey { ClientKey(address, user, isOtherUser: ownership == .other) }
    }

    let core: ServerCore
    let client: Client
    let key: ClientKey
    let requestGuard: RequestGuard
    let descriptor: Int32
    let output: OpaquePointer
    private let writing, reading: OpaquePointer
    /// This connection's index in the pool's array.
    var slot = 0
    var phase = Phase.awaiting
    var timing: ConnectionTiming
    /// The number of its latest activity; see `ConnectionPool.nextActivity`.
    private var activity: Int
    var facts = RequestFacts()
    var reply = ReplyProgress()
    var onEnd: (@LoopActor (ReplyEnd) -> Void)?
    private var group: ConnectionGroup?
    /// The number of the current request. An exchange may answer only its own.
    private(set) var serial = 0
    /// True if the client has closed its sending side.
    private(set) var hasInputEnded = false
    /// Bytes received and not yet parsed.
    private var input: [UInt8] = []
    private var isReading = true
    private var reader: RequestReader
    private var isProcessing = false

    /// Takes ownership of `descriptor`. Nil if memory is exhausted; the caller then still owns the descriptor.
    init?(_ core: ServerCore, descriptor: Int32, client: Client, requestGuard: RequestGuard) {
        let base = LoopActor.loop.base
        guard let writing = bufferevent_socket_new(base, descriptor, 0), let output = bufferevent_get_output(writing)
        else { return nil }
        // The context is assigned below, once `self` is initialised.
        guard let reading = event_new(base, descriptor, weir_ev_read | weir_ev_persist, Self.readable, nil) else {
            bufferevent_free(writing)
            return nil
        }

        self.core = core
        self.descriptor = descriptor
        self.client = client
        key = client.key
        activity = core.pool.nextActivity()
        self.requestGuard = requestGuard
        self.output = output
        self.writing = writing
        self.reading = reading
        timing = ConnectionTiming(now: core.now)
        reader = RequestReader(
            limits: core.configuration.request, longBody: core.configuration.longBody, policy: core.policy)

        let context = Unmanaged.passUnretained(self).toOpaque()
        event_assign(reading, base, descriptor, weir_ev_read | weir_ev_persist, Self.readable, context)
        event_add(reading, nil)
        bufferevent_setcb(writing, nil, Self.drained, Self.failed, context)
        // The default of 16 KiB would cost a large file one system call per 16 KiB.
        bufferevent_set_max_single_write(writing, Self.writeBudget)
    }

    /// Most bytes written for one connection per turn of the loop.
    static let writeBudget = 2 << 20
    private static let pipelineBudget = 16
    /// Reading stops above this many bytes received during a pending reply. One read may exceed it.
    private static let earlyInput = 16 * 1024
    var isIdle: Bool { phase == .awaiting && !reader.isInside && input.isEmpty }
    var hasInput: Bool { !input.isEmpty }

    /// The facts by which connections are shared.
    var holding: FairShare.Holding {
        let isStale = timing.isStale(now: core.now, limits: core.limits)
        let use = use
        var isUnread = false
        if use == .sending, let stepped = reply.stepped {
            isUnread = FairShare.nanoseconds - stepped >= FairShare.readingGrace
        }
        return FairShare.Holding(client: key, use: use, isStale: isStale || isUnread, activity: activity)
    }

    private var use: FairShare.Use {
        switch phase {
        case .awaiting where !isIdle: .partial
        case .awaiting where serial == 0: .silent
        case .awaiting: .idle
        case .handling: .handling
        case .replying where evbuffer_get_length(output) > 0: .sending
        case .replying: .handling
        case .lingering, .closed: .lingering
        }
    }

    /// True if the client has neither sent nor read anything for a time, though nothing but the client is waited for.
    func isSilent(for span: Duration) -> Bool {
        let ticks = Int((span / core.configuration.tick).rounded(.up))
        return timing.isSilent(for: ticks, now: core.now)
    }

    /// The file that the client has not read to the end; nil if it is behind with nothing that is in a file.
    var unreadFile: UnreadFile? {
        guard phase == .replying, evbuffer_get_length(output) > 0 else { return nil }
        return reply.files.last.flatMap { UnreadFile($0.descriptor) }
    }

    /// Closes the connection at once and ends the current reply. Idempotent.
    func close(_ cause: ReplyEnd.Cause) {
        guard phase != .closed else { return }
        let hadReply = phase == .handling || phase == .replying
        phase = .closed
        if hadReply {
            endReply(cause)
        }
        event_free(reading)
        bufferevent_free(writing)
        Glibc.close(descriptor)
        leaveGroup(byClient: cause == .clientLeft)
        core.connectionClosed(self)
    }

    func join(_ next: ConnectionGroup) {
        if group === next {
            return next.recordReuse()
        }
        leaveGroup(byClient: false)
        group = next
        next.add()
    }

    private func leaveGroup(byClient: Bool) {
        guard let group else { return }
        self.group = nil
        group.remove(byClient: byClient)
    }

    /// Processes the input received so far, as long as requests are answered at once.
    func process() {
        guard !isProcessing, !input.isEmpty else { return closeIfFinished() }
        let bytes = input
        input = []
        bytes.withUnsafeBytes { process($0) }
    }

    private func process(_ bytes: UnsafeRawBufferPointer) {
        isProcessing = true
        var used = 0
        var budget = Self.pipelineBudget
        while phase == .awaiting, used < bytes.count, budget > 0 {
            budget -= 1
            let length = processOne(UnsafeRawBufferPointer(rebasing: bytes[used...]))
            guard length > 0 else { break }
            used += length
        }
        isProcessing = false
        if phase == .closed || phase == .lingering {
            return
        }
        if used < bytes.count {
            input.append(contentsOf: bytes[used...])
        }
        if budget == 0, phase == .awaiting, !input.isEmpty {
            event_active(reading, Int32(weir_ev_read), 0)  // Continues after the other callbacks that are due.
        } else {
            closeIfFinished()
        }
    }

    private func closeIfFinished() {
        if hasInputEnded, phase == .awaiting, !isProcessing {
            close(.clientLeft)
        }
    }

    /// Processes one request at the front of `bytes`. Returns its length; 0 if it is incomplete.
    private func processOne(_ bytes: UnsafeRawBufferPointer) -> Int {
        switch reader.step(bytes) {
        case .incomplete: break
        case .incompleteUntilContinue: send("HTTP/1.1 100 Continue\r\n\r\n")
        case .request(let head, let length):
            var body: [UInt8] = []
            if head.byteCount < length {
                body = Array(bytes[head.byteCount..<length])
            }
            dispatch(head, body)
            return length
        case .refused(let error, let head):
            refuse(error.status, error.sentence, request: head)
            return bytes.count
        }
        if reader.awaitsBody {
            timing.enter(.idle, now: core.now)
        } else {
            timing.enter(.head, now: core.now)
        }
        return 0
    }

    /// True if the client's user is the owner, or if the system cannot tell the owner from others, who may do the same then.
    private var isTakenForOwner: Bool {
        client.ownership == .owner || client.ownership == .unknown && core.configuration.owners != nil
    }

    private func dispatch(_ head: RequestHead, _ body: [UInt8]) {
        serial += 1
        phase = .handling
        timing.enter(.handler, now: core.now)
        facts.mayPause = isTakenForOwner
        facts.method = head.method
        facts.version = head.version
        facts.mayKeep =
            head.keepsConnection && serial < core.configuration.requestsPerConnection && !core.isStopping
        facts.origin = nil
        switch requestGuard.verdict(on: head) {
        case .admitted: break
        case .admittedForOrigin: facts.origin = head.onlyValue(of: .origin)
        case .refused(let status, let sentence): return refuse(status, sentence, request: head)
        }
        guard admitsUser(of: head) else { return }
        if head.method == .options {
            reply(Preflight.answer(to: head, isListed: facts.origin != nil), .none, serial: serial)
        } else {
            core.handler(Exchange(head: head, body: body, connection: self, serial: serial))
        }
    }

    /// Returns false for a request of another user that is refused.
    private func admitsUser(of head: RequestHead) -> Bool {
        facts.isFromOtherUser = false
        guard client.ownership == .other, let policy = core.policy else { return true }
        switch policy.verdict(onOtherUsers: head) {
        case .admittedAsOwner:
            facts.mayPause = true
            return true
        case .admitted:
            facts.isFromOtherUser = true
            return true
        case .refused(let head, let body):
            facts.mayKeep = false
            reply.lingers = true
            reply(head, .bytes(body), serial: serial)
            return false
        }
    }

    /// Refuses a request and closes: nothing after it can be trusted.
    private func refuse(_ status: HTTPStatus, _ sentence: String, request: RequestHead? = nil) {
        phase = .handling
        facts.mayKeep = false
        reply.lingers = true
        guard let request, let refusal = core.policy?.refusal(of: request, status, sentence) else {
            return answer(status, sentence)
        }
        var head = ResponseHead(status)
        head.append(fieldsOf: refusal.fields)
        reply(head, .bytes(refusal.body), serial: serial)
    }

    /// Answers 500 for an exchange that was dropped without a reply.
    func exchangeWasDropped(serial: Int) {
        guard serial == self.serial else { return }
        // Closes where the head was sent before.
        answer(.internalServerError, "The request was not answered.")
    }

    private func answer(_ status: HTTPStatus, _ sentence: String) {
        var head = ResponseHead(status)
        head.append(.text)
        reply(head, .bytes([UInt8]("\(sentence)\n".utf8)), serial: serial)
    }

    private nonisolated static let readable: event_callback_fn = { _, _, context in
        guard let context else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { connection.read() }
    }

    private nonisolated static let drained: bufferevent_data_cb = { _, context in
        guard let context else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated {
            connection.activity = connection.core.pool.nextActivity()
            connection.timing.recordProgress(now: connection.core.now)
            connection.pump()
        }
    }

    private nonisolated static let failed: bufferevent_event_cb = { _, what, context in
        let number = errno
        guard let context else { return }
        let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
        // libevent reports a file that ends too soon like the end of the socket.
        let hasClientLeft = what & Int16(BEV_EVENT_ERROR) != 0 && number != EIO
        let cause: ReplyEnd.Cause = hasClientLeft ? .clientLeft : .bodyFailed
        LoopActor.assumeIsolated { connection.close(cause) }
    }

    /// Reads what has arrived for a connection without a whole request. Returns true if something has, or if it has ended.
    func readWaiting() -> Bool {
        guard phase == .awaiting, isReading, input.isEmpty else { return false }
        let before = (serial, reader.isInside)
        read()
        return phase != .awaiting || (serial, reader.isInside) != before
    }

    /// True if bytes have arrived for a connection without a whole request, and were not read.
    var hasUnread: Bool {
        var byte: UInt8 = 0
        return phase == .awaiting && isReading && recv(descriptor, &byte, 1, Int32(MSG_PEEK)) > 0
    }

    private func read() {
        activity = core.pool.nextActivity()
        switch core.readBuffer.read(descriptor) {
        case .bytes(let count): accept(core.readBuffer.bytes(count))
        case .nothing: process()  // Activated for the rest of a long pipeline.
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
            if input.count > Self.earlyInput {
                pauseReading()
            }
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

    /// Handles the client's end of input. A client that has closed only its sending half may still want the queued
    /// bytes and the replies to complete requests, but not bytes that do not exist yet.
    private func inputEnded() {
        pauseReading()
        hasInputEnded = true
        if phase == .replying, evbuffer_get_length(output) > 0 {
            return
        }
        if phase == .awaiting, !input.isEmpty {
            return process()
        }
        close(.clientLeft)
    }

    /// Runs once per tick.
    func checkDeadline() {
        // The end of another connection may have closed it in the same tick.
        guard phase != .closed else { return }
        if timing.isDraining, timing.recordQueued(evbuffer_get_length(output), now: core.now) {
            activity = core.pool.nextActivity()
        }
        guard timing.isOverdue(now: core.now, limits: core.limits) else { return }
        if phase == .awaiting, reader.isInside {
            return refuse(.requestTimeout, "The request did not arrive in time.")
        }
        if isIdle, let group, group.keepsIdle, client.address.isUnix || client.address.isLoopback {
            return
        }
        leaveGroup(byClient: false)
        guard phase == .replying else { return close(.clientLeft) }
        close(.clientStalled)
    }
}
