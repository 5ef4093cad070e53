import CLibcurl
import EventLoop

/// A libcurl multi handle driven by the loop: one pool of connections.
///
/// libcurl must not be entered from within its own callbacks. Hence requests that are removed there are only cut off
/// from their owners at once, and leave when libcurl has returned; requests are added from outside always (see
/// `OriginClient`).
@LoopActor final class CurlMulti {
    private let handle: UnsafeMutableRawPointer
    /// The sockets of its connections.
    let sockets = SocketWatches()
    private var timer: LoopTimer?
    /// Those in the handle, by their easy handle: what keeps the callbacks' contexts alive.
    private var requests: [UnsafeMutableRawPointer: CurlRequest] = [:]
    private var doomed: [CurlRequest] = []
    private var stopped: [CurlRequest] = []
    private var isInside = false
    /// What has come and is not passed on yet, and whose it is; empty whenever libcurl is left.
    private var staging: Staging
    private var staged: CurlRequest?

    private static let isReady: Bool = {
        // libcurl takes its buffer anew for each request. By default malloc gives such a block back to the system each
        // time, and every page of it comes as a fault again: a sixth of what a small miss costs.
        weir_keep_freed_memory(4 << 20, 8 << 20)
        return weir_global_init() == CURLE_OK
    }()

    /// - Parameters:
    ///   - idleConnections: the most that are kept for reuse.
    ///   - bufferSize: the most bytes that travel to an owner together.
    init(idleConnections: Int, bufferSize: Int) {
        staging = Staging(capacity: bufferSize)
        guard Self.isReady, let handle = curl_multi_init() else {
            // Without it there is no program to go on with.
            preconditionFailure("no memory or no TLS library for libcurl")
        }
        self.handle = handle
        timer = LoopTimer { [weak self] in self?.act(CURL_SOCKET_BAD, 0) }
        sockets.ready = { [weak self] socket, ready in
            let read = ready.contains(.reading) ? CURL_CSELECT_IN : 0
            let write = ready.contains(.writing) ? CURL_CSELECT_OUT : 0
            self?.act(socket, read | write)
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = weir_multi_set_long(handle, CURLMOPT_MAXCONNECTS, idleConnections)
        _ = weir_multi_set_pointer(handle, CURLMOPT_SOCKETDATA, context)
        _ = weir_multi_set_pointer(handle, CURLMOPT_TIMERDATA, context)
        _ = weir_multi_set_socket(handle) { easy, socket, what, context, _ in
            // libcurl calls on the loop's thread; the handle is a key here, no more.
            nonisolated(unsafe) let easy = easy
            CurlMulti.from(context) {
                if let easy { $0.requests[easy]?.descriptor = socket }
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
        for easy in requests.keys { curl_multi_remove_handle(handle, easy) }
        curl_multi_cleanup(handle)
    }

    nonisolated private static func from(_ context: UnsafeMutableRawPointer?, _ body: @LoopActor (CurlMulti) -> Void) {
        guard let context else { return }
        let multi = Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue()
        LoopActor.assumeIsolated { body(multi) }
    }

    // MARK: Requests

    /// Puts a request on the wire. Not from within a callback of libcurl.
    func add(_ request: CurlRequest) -> Bool {
        requests[request.handle] = request
        request.multi = self
        // The connections that it makes tell of their end there; none outlives the handle, and that the sockets.
        _ = weir_easy_set_pointer(
            request.handle, CURLOPT_CLOSESOCKETDATA, Unmanaged.passUnretained(sockets).toOpaque())
        guard curl_multi_add_handle(handle, request.handle) == CURLM_OK else {
            requests[request.handle] = nil
            return false
        }
        return true
    }

    /// Takes a request off the wire; its owner hears nothing of it any more. A request in mid-body takes its connection
    /// along.
    func remove(_ request: CurlRequest) {
        request.owner = nil
        guard requests[request.handle] != nil else { return }
        guard !isInside else { return doomed.append(request) }
        curl_multi_remove_handle(handle, request.handle)
        requests[request.handle] = nil
    }

    /// Lets a request on the wire wait with its body, or go on with it: what it had taken off its socket comes at once.
    /// Not from within a callback of libcurl.
    func pause(_ request: CurlRequest, _ isPaused: Bool) {
        guard requests[request.handle] != nil else { return }
        enter { curl_easy_pause(request.handle, isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT) }
    }

    // MARK: Bytes

    /// Takes bytes from within libcurl, to be passed on together; false when their owner wants no more.
    func stage(_ bytes: UnsafeRawBufferPointer, of request: CurlRequest) -> Bool {
        if staged !== request || !staging.hasRoom(for: bytes.count) { deliverStaged() }
        guard !request.isStopped else { return false }
        guard staging.hasRoom(for: bytes.count) else { return request.deliver(bytes) }
        staged = request
        staging.append(bytes)
        return true
    }

    /// Passes on what was gathered. A request whose owner wants no more of it leaves when libcurl has returned.
    private func deliverStaged() {
        guard let request = staged, !staging.isEmpty else { return }
        staged = nil
        if !staging.take(request.deliver) { stopped.append(request) }
    }

    /// Ends those whose owners refused bytes that libcurl had handed over already.
    private func endStopped() {
        let requests = stopped
        stopped = []
        for request in requests where self.requests.removeValue(forKey: request.handle) != nil {
            curl_multi_remove_handle(handle, request.handle)
            request.end(CURLE_WRITE_ERROR)
        }
    }

    // MARK: Driving

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

    /// Enters libcurl, and sees to what came of it.
    private func enter(_ body: () -> Void) {
        isInside = true
        body()
        deliverStaged()
        isInside = false
        for request in doomed { remove(request) }
        doomed = []
        for (request, code) in takeEnded() { request.end(code) }
        endStopped()
    }

    /// Takes those that are through off the handle before anyone hears of it: what they do then may add and remove
    /// others.
    private func takeEnded() -> [(CurlRequest, CURLcode)] {
        var ended: [(CurlRequest, CURLcode)] = []
        var left: Int32 = 0
        while let message = curl_multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = message.pointee.data.result
            guard let request = requests.removeValue(forKey: easy) else { continue }
            // Another may use its connection.
            request.intake.limitWindow(to: nil)
            request.intake.restore()
            curl_multi_remove_handle(handle, easy)
            ended.append((request, code))
        }
        return ended
    }
}
