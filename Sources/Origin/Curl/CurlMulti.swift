import CLibcurl
import EventLoop
import Glibc
import HTTPMessage

/// A libcurl multi handle driven by the event loop: one pool of connections. libcurl must not be entered from within
/// its own callbacks. So a request that is removed there is only detached from its owner at once, and leaves the handle
/// after libcurl has returned. Requests are always added from outside libcurl (see `OriginClient`).
@LoopActor final class CurlMulti {
    private let handle: UnsafeMutableRawPointer
    let sockets = SocketWatches()
    private var timer: LoopTimer?
    /// Requests in the handle by their easy handle. Keeps the callbacks' contexts alive.
    private var requests: [UnsafeMutableRawPointer: CurlRequest] = [:]
    private var removals: [CurlRequest] = []
    private var stopped: [CurlRequest] = []
    private var waking: [CurlRequest] = []
    private var isInside = false
    /// The time of the last byte on each shared connection, by its port on this machine.
    private var arrivals: [Int32: ContinuousClock.Instant] = [:]
    private static let mostArrivals = 256
    /// Received bytes not yet delivered, and their request. Empty whenever libcurl has returned.
    private var buffer: BodyBuffer
    private var bufferedRequest: CurlRequest?
    /// The bytes of bodies in this turn of the loop, in which libcurl may be entered several times.
    private var takenCount = 0
    private var turn = 0
    /// The most of them: what comes then waits for the next turn, so that others have theirs. libcurl itself reads on as long as a
    /// connection has bytes, and a fast origin never lets it end.
    private static let mostTaken = 4 << 20
    /// Requests that wait for the next turn.
    private var resting: [CurlRequest] = []
    private var rest: LoopTimer?

    private static let isReady = weir_global_init() == CURLE_OK

    init(idleConnections: Int, bufferSize: Int) {
        buffer = BodyBuffer(capacity: bufferSize)
        guard Self.isReady, let handle = curl_multi_init() else {
            // The program cannot run without libcurl.
            preconditionFailure("no memory or no TLS library for libcurl")
        }
        self.handle = handle

        timer = LoopTimer { [weak self] in self?.act(CURL_SOCKET_BAD, 0) }
        rest = LoopTimer { [weak self] in self?.endRest() }
        sockets.ready = { [weak self] socket, ready in
            var events: Int32 = 0
            if ready.contains(.reading) {
                events |= CURL_CSELECT_IN
            }
            if ready.contains(.writing) {
                events |= CURL_CSELECT_OUT
            }
            self?.act(socket, events)
        }

        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = weir_multi_set_long(handle, CURLMOPT_MAXCONNECTS, idleConnections)
        _ = weir_multi_set_long(handle, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        _ = weir_multi_set_pointer(handle, CURLMOPT_SOCKETDATA, context)
        _ = weir_multi_set_pointer(handle, CURLMOPT_TIMERDATA, context)
        Self.setFunctions(of: handle)
    }

    nonisolated private static func setFunctions(of handle: UnsafeMutableRawPointer) {
        _ = weir_multi_set_socket(handle) { easy, socket, what, context, _ in
            // libcurl calls on the loop's thread; the handle only serves as a key.
            nonisolated(unsafe) let easy = easy
            CurlMulti.from(context) {
                if let easy, let request = $0.requests[easy] {
                    $0.record(socket, what, of: request)
                }
                $0.watch(socket, for: what)
            }
            return 0
        }
        _ = weir_multi_set_timer(handle) { _, milliseconds, context in
            CurlMulti.from(context) { $0.schedule(milliseconds) }
            return 0
        }
    }

    isolated deinit {
        for easy in requests.keys {
            curl_multi_remove_handle(handle, easy)
        }
        curl_multi_cleanup(handle)
    }

    nonisolated private static func from(_ context: UnsafeMutableRawPointer?, _ body: @LoopActor (CurlMulti) -> Void) {
        guard let context else { return }
        let multi = Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { body(multi) }
    }

    func add(_ request: CurlRequest) -> Bool {
        requests[request.handle] = request
        request.multi = self
        // Its connections report their end to `sockets`, which outlives the handle, and the handle its connections.
        _ = weir_easy_set_pointer(request.handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque())
        guard curl_multi_add_handle(handle, request.handle) == CURLM_OK else {
            requests[request.handle] = nil
            return false
        }
        return true
    }

    /// Removes a request; its owner is not notified any more. A request in mid-body closes its connection.
    func remove(_ request: CurlRequest) {
        request.owner = nil
        guard requests[request.handle] != nil else { return }
        guard !isInside else { return removals.append(request) }
        curl_multi_remove_handle(handle, request.handle)
        requests[request.handle] = nil
    }

    /// Pauses or resumes a request's body. On resumption, bytes that libcurl holds arrive at once. Not from within a
    /// callback of libcurl.
    func pause(_ request: CurlRequest, _ isPaused: Bool) {
        guard requests[request.handle] != nil else { return }
        let action = isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT
        enter { curl_easy_pause(request.handle, action) }
    }

    /// False if a request has to wait for the next turn with further bytes, which libcurl keeps.
    func hasTurn(_ request: CurlRequest) -> Bool {
        guard takenCount >= Self.mostTaken else { return true }
        resting.append(request)
        // Not `fireSoon()`, which is in this turn.
        rest?.schedule(after: .zero)
        return false
    }

    private func endRest() {
        let rested = resting
        resting = []
        enter {
            // One that its owner has paused meanwhile goes on when the owner says so.
            for request in rested where requests[request.handle] === request && !request.isPaused {
                curl_easy_pause(request.handle, CURLPAUSE_CONT)
            }
        }
    }

    /// Buffers bytes from within libcurl; false if the owner has refused further bytes.
    func append(_ bytes: UnsafeRawBufferPointer, of request: CurlRequest) -> Bool {
        if bufferedRequest !== request || !buffer.hasRoom(for: bytes.count) {
            flushBuffer()
        }
        guard !request.isStopped else { return false }
        takenCount += bytes.count
        // Only what is written to a file is collected. What an earlier call has left comes first.
        let isCollected = bufferedRequest === request || !(request.owner?.takesSmallParts ?? false)
        guard isCollected, buffer.hasRoom(for: bytes.count) else { return request.deliver(bytes) }
        bufferedRequest = request
        buffer.append(bytes)
        return true
    }

    /// The number of buffered bytes of a request.
    func undeliveredByteCount(of request: CurlRequest) -> Int {
        guard bufferedRequest === request else { return 0 }
        return buffer.count
    }

    private func flushBuffer() {
        guard let request = bufferedRequest, !buffer.isEmpty else { return }
        bufferedRequest = nil
        if !buffer.drain(request.deliver) {
            stopped.append(request)
        }
    }

    /// Ends requests whose owners refused bytes that libcurl had already handed over.
    private func endStopped() {
        let requests = stopped
        stopped = []
        for request in requests where self.requests.removeValue(forKey: request.handle) != nil {
            curl_multi_remove_handle(handle, request.handle)
            request.end(CURLE_WRITE_ERROR)
        }
    }

    private func record(_ socket: Int32, _ what: Int32, of request: CurlRequest) {
        if what != CURL_POLL_REMOVE {
            request.descriptor = socket
        } else if request.readyAt == nil {
            waking.append(request)
        }
    }

    private func watch(_ socket: Int32, for what: Int32) {
        switch what {
        case CURL_POLL_IN: sockets.watch(socket, for: .reading)
        case CURL_POLL_OUT: sockets.watch(socket, for: .writing)
        case CURL_POLL_INOUT: sockets.watch(socket, for: [.reading, .writing])
        default: sockets.watch(socket, for: nil)
        }
    }

    private func schedule(_ milliseconds: Int) {
        switch milliseconds {
        case ..<0: timer?.cancel()
        case 0: timer?.fireSoon()
        default: timer?.schedule(after: .milliseconds(milliseconds))
        }
    }

    private func act(_ socket: Int32, _ what: Int32) {
        enter {
            var running: Int32 = 0
            curl_multi_socket_action(handle, socket, what, &running)
        }
    }

    /// Enters libcurl, then handles removals, finished requests and refused bytes.
    private func enter(_ body: () -> Void) {
        isInside = true
        if turn != LoopThread.turnNumber {
            turn = LoopThread.turnNumber
            takenCount = 0
        }
        body()
        wake()
        flushBuffer()
        isInside = false
        for request in removals {
            remove(request)
        }
        removals = []
        for (request, code) in removeFinished() {
            request.end(code)
        }
        endStopped()
    }

    /// Records that a byte has arrived on a connection that requests share.
    func recordArrival(on port: Int32) {
        if arrivals.count >= Self.mostArrivals {
            arrivals = arrivals.filter { .now - $0.value < .seconds(60) }
        }
        arrivals[port] = .now
    }

    /// The time of the last byte on a shared connection; nil if none is known.
    func lastArrival(on port: Int32) -> ContinuousClock.Instant? { arrivals[port] }

    /// True if another request is on the connection with this port; with `isHTTP1` only one that is known to be by HTTP/1.1.
    func hasOther(on port: Int32, besides request: CurlRequest, isHTTP1: Bool) -> Bool {
        requests.values.contains {
            $0 !== request && $0.connectionPort == port && (!isHTTP1 || $0.isHeadComplete && !$0.reply.isHTTP2)
        }
    }

    /// Lets libcurl go on with requests that gave an address up. libcurl 7.88 opens the socket for the next address only when
    /// it runs again, and sets no timer for that; a pause that ends at once does.
    private func wake() {
        for request in waking where requests[request.handle] != nil {
            curl_easy_pause(request.handle, CURLPAUSE_ALL)
            curl_easy_pause(request.handle, CURLPAUSE_CONT)
        }
        waking = []
    }

    /// Removes all finished requests before any owner is notified: an owner may add and remove requests.
    private func removeFinished() -> [(CurlRequest, CURLcode)] {
        var ended: [(CurlRequest, CURLcode)] = []
        var left: Int32 = 0
        while let message = curl_multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = message.pointee.data.result
            guard let request = requests.removeValue(forKey: easy) else { continue }
            // Another request may reuse the connection. Where all of a pool's are bounded, the next one is not to begin with a wide window.
            if request.bounds == nil {
                request.receiveLimits.limitWindow(to: nil)
            }
            request.receiveLimits.restore()
            curl_multi_remove_handle(handle, easy)
            ended.append((request, code))
        }
        return ended
    }
}

/// Collects bytes from libcurl for delivery in larger parts to one owner.
/// libcurl passes 16 KiB at a time, however much it has read. A file written so needs many calls, and fills the page
/// cache with many small folios that sendfile must visit one by one.
struct BodyBuffer: ~Copyable {
    private let buffer: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int) { buffer = .allocate(byteCount: capacity, alignment: 64) }

    deinit { buffer.deallocate() }

    var isEmpty: Bool { count == 0 }

    func hasRoom(for more: Int) -> Bool { more <= buffer.count - count }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: buffer[count..<(count + bytes.count)]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// Passes the content, valid during the call, to `body` and empties the buffer.
    mutating func drain<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
        defer { count = 0 }
        return body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
}

/// The sockets of one libcurl multi handle, watched as libcurl requests.
/// libcurl stops watching a connection after each request and watches it again for the next. Its watch stays meanwhile,
/// which saves two system calls per request. This applies only to sockets whose closing is reported here: a watch that
/// outlives its socket would apply to another descriptor with the same number. libcurl does not report it for a socket that
/// it closes before a request has used it.
@LoopActor final class SocketWatches {
    private final class Entry {
        let interest: DescriptorWatch.Interest
        let watch: DescriptorWatch
        var isEnabled = true

        init(_ interest: DescriptorWatch.Interest, _ watch: consuming DescriptorWatch) {
            self.interest = interest
            self.watch = watch
        }
    }

    private var entries: [Int32: Entry] = [:]
    private var own: Set<Int32> = []
    private var used: Set<Int32> = []
    /// Sockets that were closed although bytes had arrived.
    private var unread: Set<Int32> = []
    /// Called when a socket is ready as watched. Set once by the owner, which cannot refer to itself in its `init`.
    var ready: (Int32, DescriptorWatch.Interest) -> Void = { _, _ in }

    /// Records a new socket whose end `close` will report.
    func opened(_ socket: Int32) {
        entries[socket] = nil
        own.insert(socket)
        used.remove(socket)
        unread.remove(socket)
    }

    /// Records that a request is sent on the socket.
    func beganUse(of socket: Int32) {
        if own.contains(socket) {
            used.insert(socket)
        }
    }

    /// True if more than `harmless` bytes have arrived that nothing has read, on a socket of which the last request has just
    /// ended.
    func hasUnreadBytes(_ socket: Int32, moreThan harmless: Int) -> Bool {
        if own.contains(socket) {
            return Self.hasBytes(socket, moreThan: harmless)
        }
        let wasClosedUnread = unread.remove(socket) != nil
        return harmless == 0 && wasClosedUnread
    }

    private static func hasBytes(_ socket: Int32, moreThan harmless: Int) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: harmless + 1, alignment: 1) { bytes in
            recv(socket, bytes.baseAddress, bytes.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > harmless
        }
    }

    /// Changes a socket's watched interest; nil stops watching.
    func watch(_ socket: Int32, for interest: DescriptorWatch.Interest?) {
        let entry = entries[socket]
        guard let interest else {
            if used.contains(socket) {
                entry?.isEnabled = false
            } else {
                entries[socket] = nil
            }
            return
        }
        if let entry, entry.interest == interest {
            return entry.isEnabled = true
        }
        entries[socket] = nil
        entries[socket] = Entry(
            interest, DescriptorWatch(socket, for: interest) { [weak self] in self?.socketReady(socket, $0) })
    }

    private func socketReady(_ socket: Int32, _ what: DescriptorWatch.Interest) {
        guard let entry = entries[socket] else { return }
        if entry.isEnabled {
            return ready(socket, what)
        }
        // The peer has closed it or sends bytes that nothing reads: the watch would fire forever.
        entries[socket] = nil
    }

    func close(_ socket: Int32) -> Int32 {
        entries[socket] = nil
        used.remove(socket)
        if own.remove(socket) != nil, Self.hasBytes(socket, moreThan: 0) {
            unread.insert(socket)
        }
        return Glibc.close(socket)
    }
}
