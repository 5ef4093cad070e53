import CLibcurl
import EventLoop
import Glibc
import HTTPMessage

/// Receives a request's events, always on the loop; the first two from within libcurl.
@LoopActor protocol CurlRequestOwner: AnyObject {
    /// The head of the final reply has arrived. Return false to abort the request.
    func request(_ request: CurlRequest, received reply: Reply) -> Bool
    /// True if body bytes may arrive now, besides some that have arrived and are not delivered yet. Otherwise the request pauses, until
    /// the owner resumes it.
    func mayReceive(_ request: CurlRequest, besides undelivered: Int) -> Bool
    /// See `TransferReceiver.takesSmallParts`.
    var takesSmallParts: Bool { get }
    /// Body bytes have arrived, decoded if necessary. Return false to abort the request.
    func request(_ request: CurlRequest, received bytes: UnsafeRawBufferPointer) -> Bool
    /// The request has left the handle. Called last.
    func request(_ request: CurlRequest, ended outcome: TransferState.Outcome)
}

/// Owns one libcurl easy handle: one request and its reply.
/// `CurlMulti` retains it while it is in progress, and so keeps the callbacks' context, this object, alive.
@LoopActor final class CurlRequest {
    let handle: UnsafeMutableRawPointer
    /// Receives the events; nil to receive none. The owner sets it to nil before it is released.
    unowned var owner: (any CurlRequestOwner)?
    /// The pool that runs the request; outlives the request's time in it.
    unowned var multi: CurlMulti?
    private let handles: EasyHandlePool
    /// True if the handle carries no option that the next request does not set itself.
    let isPlain: Bool
    let isGet: Bool
    /// True if the handle may serve another request.
    private let isReusable: Bool
    /// True until the reply that asks for Digest has come, or another one.
    private var awaitsChallenge = false
    /// A reply that asks for Digest, which libcurl answers by itself; nil once another one begins.
    private var challenge: Reply?
    /// The outgoing body and the offset up to which libcurl has read it.
    let outgoing: OutgoingFile?
    var uploadPosition: Int64 = 0
    let rules: AddressRules
    let plan: ConnectionPlan
    /// The addresses of the host, in the order in which they are tried; empty if libcurl resolves its name.
    let addresses: [SocketAddress]
    /// Outlives the handle's use of it.
    private let cookies: CookieJar?
    private var lines: UnsafeMutablePointer<curl_slist>?
    private var resolved: UnsafeMutablePointer<curl_slist>?
    private(set) var reply = Reply()
    private(set) var isHeadComplete = false
    private(set) var isStopped = false
    private(set) var isExcessive = false
    private var trailerByteCount = 0
    let attempt: TransferState.Attempt
    /// True if bytes followed the stated end of the body.
    var isExceeded = false
    /// The number of bytes until the stated end of a body that comes by TLS; nil for any other.
    var missingByteCount: Int64?
    /// True if the origin may answer by HTTP/2.
    let offersHTTP2: Bool
    /// Bounds on its connection; nil for none.
    let bounds: ConnectionBounds?
    /// The connection's port on this machine, by which requests on one connection are known; 0 before the request is sent.
    private(set) var connectionPort: Int32 = 0
    /// Set if libcurl has sent the request where it must not; see `TransferState.Failure.misdirected`.
    private var misdirection: HTTPVersions.Fault?
    /// The address to which no connection may be opened or used; nil if there was none.
    private(set) var refused: SocketAddress?
    /// The sockets that were opened, in order.
    private(set) var openings: [Opening] = []
    private(set) var isRefusedByProxy = false
    /// The moment at which the connection was ready for the request; nil before it.
    private(set) var readyAt: ContinuousClock.Instant?
    /// libcurl's words about a failure.
    let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    /// The address of the connection that is used; nil before there is one, and through a proxy.
    private(set) var connected: SocketAddress?
    private(set) var socketError: Int32 = 0

    struct Opening {
        let descriptor: Int32
        let address: SocketAddress
    }

    struct Settings {
        let configuration: OriginClient.Configuration
        let handles: EasyHandlePool
        let rules: AddressRules
        let plan: ConnectionPlan
        /// See `CurlRequest.addresses`.
        let addresses: [SocketAddress]
        /// See `StaleConnections.maximumAge`.
        let maximumConnectionAge: Int?
        let offersHTTP2: Bool
        /// True if the origin has answered by HTTP/2, so that connections are shared.
        let isMultiplexed: Bool
        /// True to wait for a connection that is being opened; see `HTTPVersions.mayShare`.
        let mayShareConnection: Bool
        /// See `CurlRequest.bounds`.
        let bounds: ConnectionBounds?
    }

    /// Nil when libcurl has no memory.
    init?(_ asked: AskedRequest, attempt: TransferState.Attempt, settings: Settings) {
        let request = asked.request
        let isFresh = attempt.manner.usesDigest || attempt.manner.asksProxyForScheme
        guard let handle = settings.handles.acquire(isFresh: isFresh) else { return nil }

        self.handle = handle
        handles = settings.handles
        self.attempt = attempt
        plan = settings.plan
        addresses = settings.addresses
        isGet = request.method == .get
        isPlain = isGet && request.signature == nil && !plan.hasOwnOptions
        isReusable = isPlain && !attempt.manner.usesDigest
        awaitsChallenge = attempt.manner.asksProxyForScheme
        outgoing = request.file
        rules = settings.rules
        offersHTTP2 = settings.offersHTTP2
        bounds = settings.bounds
        receiveLimits = SocketReceiveLimits(isFixed: settings.bounds?.promise != nil)
        if request.isDowngraded(at: attempt.url) {
            cookies = nil
        } else {
            cookies = request.cookies
        }

        set(CURLOPT_URL, attempt.url.text)
        let isSmall = request.acceptsCompression || settings.isMultiplexed
        let bufferSize = isSmall ? Self.smallBuffer : settings.configuration.bufferSize
        set(CURLOPT_BUFFERSIZE, min(bufferSize, settings.bounds?.read ?? bufferSize))
        setVersion(settings)
        setReading(request)

        let needsNewConnection = settings.maximumConnectionAge == 0 || attempt.manner.isOnNewConnection
        set(CURLOPT_FRESH_CONNECT, needsNewConnection)
        set(CURLOPT_MAXLIFETIME_CONN, settings.maximumConnectionAge ?? 0)

        errorText.pointee = 0
        plan.apply(to: handle)
        if attempt.manner.asksProxyForScheme {
            set(CURLOPT_PROXYAUTH, Self.basic | Self.digest)
        }
        setConnecting(settings.configuration.giveUpRule)
        setAddresses()
        setFields(request, attempt)
        setMethod(request)
        if let signature = request.signature {
            sign(with: signature)
        }
        setCallbacks()
    }

    isolated deinit {
        _ = weir_easy_set_pointer(handle, CURLOPT_ERRORBUFFER, nil)
        _ = weir_easy_set_pointer(handle, CURLOPT_RESOLVE, nil)
        if isReusable {
            handles.release(handle)
        } else {
            curl_easy_cleanup(handle)
        }
        errorText.deallocate()
        curl_slist_free_all(lines)
        curl_slist_free_all(resolved)
    }

    /// libcurl's default, enough for a playlist, and for one of many streams, whose bytes come in frames of this size.
    private static let smallBuffer = 16 * 1024

    private func setFields(_ request: OriginRequest, _ attempt: TransferState.Attempt) {
        cookies?.attach(to: handle, host: attempt.url.host)
        for field in request.fields(for: attempt.url) {
            if attempt.manner.usesDigest, let credentials = BasicCredentials(field) {
                answerByDigest(with: credentials)
                continue
            }
            if let cookies, field.isNamed(Self.cookie), !field.value.isEmpty {
                // libcurl joins it with the jar's cookies: a request has one Cookie field (RFC 6265 §5.4).
                let given = cookies.merge(field.value, host: attempt.url.host)
                if !given.isEmpty {
                    set(CURLOPT_COOKIE, given)
                }
                continue
            }
            if field.value.isEmpty {
                // libcurl interprets a name with a semicolon as an empty field.
                append("\(field.name);")
            } else {
                append("\(field.name): \(field.value)")
            }
        }
        if let range = attempt.rangeValue {
            append("Range: \(range)")
        }
        if let validator = attempt.ifRange {
            append("If-Range: \(validator)")
        }
        // libcurl would otherwise wait one second for "100 Continue" before it sends a larger body. A signed request
        // must not have this line (it would be signed but not sent), and a store may refuse before the body.
        if request.method != .get, request.signature == nil {
            append("Expect:")
        }
    }

    /// Lets libcurl answer the origin's challenge. It requests without credentials first: the challenge is part of the answer.
    private func answerByDigest(with credentials: BasicCredentials) {
        set(CURLOPT_USERNAME, credentials.user)
        set(CURLOPT_PASSWORD, credentials.password)
        set(CURLOPT_HTTPAUTH, Self.digest)
        awaitsChallenge = true
    }

    /// CURLAUTH_BASIC and CURLAUTH_DIGEST, which Swift does not import. Never NTLM or Negotiate, which send what the system knows.
    private static let basic = 1
    static let digest = 2

    private static let cookie = FieldName("Cookie")
    private static let setCookie = FieldName("Set-Cookie")

    /// Gives libcurl the addresses of the host. With the plus sign the entry in its cache is replaced by that of the next
    /// request, and lasts a minute (CURLOPT_DNS_CACHE_TIMEOUT).
    private func setAddresses() {
        guard !addresses.isEmpty else { return }
        let list = addresses.map { WebURL.bracketed($0.literal) }.joined(separator: ",")
        resolved = curl_slist_append(nil, "+\(attempt.url.host):\(attempt.url.port):\(list)")
        _ = weir_easy_set_pointer(handle, CURLOPT_RESOLVE, resolved)
    }

    func append(_ line: String) {
        if let longer = curl_slist_append(lines, line) {
            lines = longer
        }
    }

    private func setMethod(_ request: OriginRequest) {
        guard request.method != .get else { return }
        defer { set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
        if outgoing != nil {
            return setUpload()
        }
        if request.method == .head {
            return set(CURLOPT_NOBODY, 1)
        }
        // With a body, even an empty one, libcurl would add a Content-Type that was not signed.
        if request.body.isEmpty, request.signature != nil {
            return
        }
        request.body.withUnsafeBytes { body in
            _ = weir_easy_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            let start = UnsafeMutableRawPointer(mutating: body.baseAddress ?? UnsafeRawPointer(handle))
            // libcurl copies as many bytes as the size above says.
            _ = weir_easy_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, start)
        }
    }

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = weir_easy_set_pointer(handle, CURLOPT_HTTPHEADER, lines)
        for option in [
            CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_DEBUGDATA, CURLOPT_PREREQDATA,
        ] {
            _ = weir_easy_set_pointer(handle, option, context)
        }
        _ = weir_easy_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    }

    nonisolated static func setFunctions(of handle: UnsafeMutableRawPointer) {
        _ = weir_easy_set_write(handle, CURLOPT_HEADERFUNCTION) { start, _, count, context in
            CurlRequest.from(context, start: start, count: count) { request, line in
                guard request.receive(line: line) else { return 0 }
                return line.count
            }
        }
        _ = weir_easy_set_write(handle, CURLOPT_WRITEFUNCTION) { start, _, count, context in
            CurlRequest.from(context, start: start, count: count) { $0.receive($1) }
        }

        _ = weir_easy_set_debug(handle) { _, kind, start, count, context in
            guard kind == CURLINFO_TEXT else { return 0 }
            _ = CurlRequest.from(context, start: start, count: count) { request, remark in
                request.receive(remark: remark)
                return 0
            }
            return 0
        }

        _ = weir_easy_set_opensocket(handle) { context, _, address in
            guard let context, let address else { return CURL_SOCKET_BAD }
            let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
            // libcurl calls on the loop's thread; the address is valid during the call.
            nonisolated(unsafe) let unsafeAddress = address
            return LoopActor.assumeIsolated { request.open(unsafeAddress) }
        }

        _ = weir_easy_set_prereq(handle) { context, address, _, port, localPort in
            guard let context, let address else { return CURL_PREREQFUNC_ABORT }
            let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
            let literal = String(cString: address)
            let isAllowed = LoopActor.assumeIsolated {
                request.connectionPort = localPort
                return request.use(literal, port)
            }
            return isAllowed ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }

        _ = weir_easy_set_closesocket(handle) { context, socket in
            guard let context else { return Glibc.close(socket) }
            let sockets = Unmanaged<SocketWatches>.fromOpaque(context).takeUnretainedValue()
            return LoopActor.assumeIsolated { sockets.close(socket) }
        }
    }

    func set(_ option: CURLoption, _ value: Int) { _ = weir_easy_set_long(handle, option, value) }
    func set(_ option: CURLoption, _ isOn: Bool) { set(option, isOn ? 1 : 0) }
    func set(_ option: CURLoption, _ value: String) { _ = weir_easy_set_text(handle, option, value) }

    nonisolated private static func from(
        _ context: UnsafeMutableRawPointer?, start: UnsafeMutablePointer<CChar>?, count: Int,
        _ body: @LoopActor (CurlRequest, UnsafeRawBufferPointer) -> Int
    ) -> Int {
        guard let context else { return 0 }
        let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
        // libcurl calls on the loop's thread; the bytes are valid during the call.
        nonisolated(unsafe) let bytes = UnsafeRawBufferPointer(start: start, count: count)
        return LoopActor.assumeIsolated { body(request, bytes) }
    }

    private func receive(line: UnsafeRawBufferPointer) -> Bool {
        if offersHTTP2, connectionPort > 0 {
            multi?.recordArrival(on: connectionPort)
        }
        guard !isHeadComplete else { return receive(trailer: line) }
        switch reply.receive(line: line) {
        case .incomplete:
            if reply.fields.count == 0 {
                // The next reply has begun.
                challenge = nil
                readToEndOfStream()
            }
            return true
        case .excessive:
            isExcessive = true
            return false
        case .complete:
            if awaitsChallenge, [401, 407].contains(reply.status) {
                // libcurl sends the request again; otherwise the body or the end of this reply follows.
                awaitsChallenge = false
                challenge = reply
                return true
            }
            isHeadComplete = true
            if !reply.isHTTP2, hasCompanion(isHTTP1: false) {
                misdirection = .collision
                return false
            }
            return deliverHead()
        }
    }

    private func deliverHead() -> Bool {
        if plan.proxy != nil, reply.status == 407 {
            isRefusedByProxy = true
            return false
        }
        reply.address = address
        adaptReading()
        if let cookies, reply[Self.setCookie] != nil {
            cookies.recordChange()
        }
        return shouldContinue(owner?.request(self, received: reply))
    }

    /// Delivers the head of a challenge that libcurl could not answer. Returns false to abort the request.
    private func deliverChallenge() -> Bool {
        guard challenge.take() != nil else { return true }
        isHeadComplete = true
        return deliverHead()
    }

    /// Ignores a line of a trailer section, which Weir does not request. libcurl keeps all of them.
    private func receive(trailer line: UnsafeRawBufferPointer) -> Bool {
        // After HTTP_1_1_REQUIRED libcurl sends the request again by itself, although a part of the body was delivered.
        if line.starts(with: "HTTP/".utf8) {
            misdirection = .http1Required
            return false
        }
        trailerByteCount += line.count
        isExcessive = trailerByteCount > Reply.maximumByteCount
        return !isExcessive
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard deliverChallenge() else { return 0 }
        if isPaused {
            // The connection may be younger than the pause.
            receiveLimits.hold()
            return weir_writefunc_pause  // libcurl keeps the bytes.
        }
        // In one call libcurl reads as long as the connection has bytes.
        let undelivered = multi?.undeliveredByteCount(of: self) ?? 0
        guard owner?.mayReceive(self, besides: undelivered) ?? true else {
            isPaused = true
            receiveLimits.hold()
            return weir_writefunc_pause
        }
        guard multi?.hasTurn(self) ?? true else { return weir_writefunc_pause }
        if offersHTTP2 {
            multi?.recordArrival(on: connectionPort)
        }
        recordArrival(byteCount: bytes.count)
        guard !isStopped, let multi, multi.append(bytes, of: self) else { return 0 }
        return bytes.count
    }

    /// Passes bytes to the owner; false if it refuses further bytes.
    func deliver(_ bytes: UnsafeRawBufferPointer) -> Bool { shouldContinue(owner?.request(self, received: bytes)) }

    private func shouldContinue(_ answer: Bool?) -> Bool {
        if answer != true {
            isStopped = true
        }
        return answer == true
    }

    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
        // The member is declared as a bare sockaddr, but `addrlen` bytes are stored there.
        let raw = UnsafeRawBufferPointer(start: UnsafeRawPointer(address) + offset, count: Int(address.pointee.addrlen))

        // A Unix socket has no address.
        var target = SocketAddress.noAddress
        let isLocal = plan.socket != nil && address.pointee.family == AF_UNIX
        if !isLocal {
            guard let given = SocketAddress(family: address.pointee.family, raw) else { return CURL_SOCKET_BAD }
            target = given
            // The address of a proxy is the user's choice.
            let isAllowed = plan.proxy == nil ? rules.allows(target, plan.rights) : rules.isPossible(target)
            guard isAllowed else {
                refused = target
                return CURL_SOCKET_BAD
            }
        }

        let flags = Int32(SOCK_CLOEXEC.rawValue) | address.pointee.socktype
        let descriptor = socket(address.pointee.family, flags, address.pointee.protocol)
        guard descriptor >= 0 else {
            // Without IPv6 the other family decides.
            if errno != EAFNOSUPPORT {
                socketError = errno
            }
            return descriptor
        }

        if let promise = bounds?.promise {
            SocketReceiveLimits.fix(descriptor, promising: promise)
        }
        openings.append(Opening(descriptor: descriptor, address: target))
        multi?.sockets.opened(descriptor)
        return descriptor
    }

    /// Judges the connection that libcurl is about to send the request on: a pooled one may have been opened with the
    /// rights of another request. Called before each request.
    private func use(_ literal: String, _ port: Int32) -> Bool {
        readyAt = .now
        if hasCompanion(isHTTP1: true) {
            misdirection = .collision
            return false
        }

        guard plan.proxy == nil, plan.socket == nil else {
            if let opening = openings.last {
                multi?.sockets.beganUse(of: opening.descriptor)
            }
            return true
        }

        guard let address = SocketAddress(literal: literal, port: UInt16(clamping: port)),
            rules.allows(address, plan.rights)
        else {
            refused = SocketAddress(literal: literal, port: UInt16(clamping: port))
            openings = []
            return false
        }

        connected = address
        if let opening = openings.last(where: { $0.address == address }) {
            multi?.sockets.beganUse(of: opening.descriptor)
        }
        return true
    }

    /// True if the request is sent on a connection that an earlier one has opened.
    var isOnUsedConnection: Bool { readyAt != nil && openings.isEmpty }

    private(set) var isPaused = false

    /// Pauses or resumes the body; the head still arrives. Not from within a callback of libcurl.
    /// The connection stays open, and the kernel buffers up to its window; see `SocketReceiveLimits`.
    func setPaused(_ isPaused: Bool) {
        guard isPaused != self.isPaused else { return }
        self.isPaused = isPaused
        if isPaused {
            receiveLimits.hold()
        } else {
            receiveLimits.restore()
        }
        // Before the head libcurl has nothing to pause; `receive` pauses at the first body bytes.
        if isHeadComplete || !isPaused {
            multi?.pause(self, isPaused)
        }
    }

    /// The connection's setup time; nil for a reused connection.
    var connectTime: Duration? {
        var count = 0
        var time = curl_off_t(0)
        _ = weir_easy_get_long(handle, CURLINFO_NUM_CONNECTS, &count)
        guard count > 0, weir_easy_get_offset(handle, CURLINFO_CONNECT_TIME_T, &time) == CURLE_OK else { return nil }
        return .microseconds(time)
    }

    var receiveLimits: SocketReceiveLimits

    /// The connection's socket, once libcurl waits for it. CURLINFO_ACTIVESOCKET reports it only after the end.
    var descriptor: Int32 {
        get { receiveLimits.descriptor }
        set { receiveLimits.descriptor = newValue }
    }

    private var address: String? {
        var text: UnsafePointer<CChar>?
        _ = weir_easy_get_text(handle, CURLINFO_PRIMARY_IP, &text)
        guard let text, text.pointee != 0 else { return nil }
        return String(cString: text)
    }

    /// Body bytes received before decoding.
    var encodedByteCount: Int64 {
        var count: curl_off_t = 0
        _ = weir_easy_get_offset(handle, CURLINFO_SIZE_DOWNLOAD_T, &count)
        return Int64(count)
    }

    /// Reports the result of libcurl; the request has already left the handle.
    func end(_ code: CURLcode) {
        _ = deliverChallenge()
        let outcome = outcome(of: code)
        let owner = owner
        self.owner = nil
        owner?.request(self, ended: outcome)
    }

    private func outcome(of code: CURLcode) -> TransferState.Outcome {
        if let misdirection {
            return .failed(.misdirected(misdirection))
        }
        switch code {
        case CURLE_OK where isExceeded || hasUnreadBytes: return .exceeded
        case CURLE_OK where isShortStream: return .failed(failure(CURLE_PARTIAL_FILE).with(faultOfEndedSession))
        case CURLE_OK: return .finished
        case _ where isStopped: return .stopped
        default:
            let words = String(cString: errorText)
            var failure = failure(code).with(http2Fault(code, words))
            if contradictsLength(code, words) {
                failure.hasInvalidLength = true
            }
            return .failed(failure)
        }
    }

    func sign(with signature: RequestSignature) {
        set(CURLOPT_AWS_SIGV4, signature.scheme)
        set(CURLOPT_USERNAME, signature.accessKey)
        set(CURLOPT_PASSWORD, signature.secretKey)
        if let token = signature.sessionToken {
            append("x-amz-security-token: \(token)")
        }
    }
}
