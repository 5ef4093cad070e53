import CLibcurl
import EventLoop
import Glibc
import HTTPMessage

/// What a request tells of itself, always on the loop; the first two from within libcurl.
@LoopActor protocol CurlRequestOwner: AnyObject {
    /// The head of the final reply has come. False breaks the request off.
    func request(_ request: CurlRequest, received reply: Reply) -> Bool
    /// Bytes of the body have come, decoded if they had to be. False breaks the request off.
    func request(_ request: CurlRequest, received bytes: UnsafeRawBufferPointer) -> Bool
    /// The request is off the wire; comes last.
    func request(_ request: CurlRequest, ended outcome: TransferState.Outcome)
}

/// The owner of one libcurl easy handle: one request and its reply.
///
/// Lives in `CurlMulti` while it is on the wire: that keeps the callbacks' context, which is this object, alive.
@LoopActor final class CurlRequest {
    /// The easy handle.
    let handle: UnsafeMutableRawPointer
    /// Who hears of it; nil once nobody does. Takes itself out before it goes.
    unowned var owner: (any CurlRequestOwner)?
    /// Where it is on the wire; outlives it there.
    unowned var multi: CurlMulti?

    private let handles: EasyHandles
    /// Whether its handle carries nothing that the next request would not set itself.
    private let isPlain: Bool
    /// The body on its way out, and how much of it libcurl has taken.
    let outgoing: OutgoingFile?
    var taken: Int64 = 0
    private let rules: AddressRules
    private let isNamed: Bool
    private var lines: UnsafeMutablePointer<curl_slist>?
    private var reply = Reply()
    private var isHeadComplete = false
    /// Whether its owner wants no more.
    private(set) var isStopped = false
    private var isExcessive = false
    private var refusals = 0
    private var openings = 0
    private var socketError: Int32 = 0

    /// What a request is made of besides its `OriginRequest`.
    struct Settings {
        let configuration: OriginClient.Configuration
        let handles: EasyHandles
        let rules: AddressRules
        /// The user's own URL named the host and port of this attempt.
        let isNamed: Bool
        /// See `ConnectionTrust`.
        let oldestConnection: Int?
    }

    /// Nil when libcurl has no memory.
    init?(_ request: OriginRequest, _ attempt: TransferState.Attempt, _ settings: Settings) {
        guard let handle = settings.handles.take() else { return nil }
        self.handle = handle
        handles = settings.handles
        isPlain = request.method == .get && request.signature == nil
        outgoing = request.file
        rules = settings.rules
        isNamed = settings.isNamed
        set(CURLOPT_URL, attempt.url.text)
        set(CURLOPT_BUFFERSIZE, request.acceptsCompression ? Self.smallBuffer : settings.configuration.bufferSize)
        _ = weir_easy_set_text(handle, CURLOPT_ACCEPT_ENCODING, request.acceptsCompression ? "gzip" : nil)
        set(CURLOPT_FRESH_CONNECT, settings.oldestConnection == 0 ? 1 : 0)
        set(CURLOPT_MAXLIFETIME_CONN, settings.oldestConnection ?? 0)
        setFields(request, attempt)
        setMethod(request)
        if let signature = request.signature { sign(with: signature) }
        setCallbacks()
    }

    isolated deinit {
        if isPlain { handles.give(handle) } else { curl_easy_cleanup(handle) }
        curl_slist_free_all(lines)
    }

    /// libcurl's own, enough for a playlist.
    private static let smallBuffer = 16 * 1024

    // MARK: Options

    private func setFields(_ request: OriginRequest, _ attempt: TransferState.Attempt) {
        for field in request.fields(for: attempt.url) {
            // libcurl takes a name with a semicolon for a field that is empty.
            append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
        }
        if let range = attempt.rangeValue { append("Range: \(range)") }
        if let validator = attempt.ifRange { append("If-Range: \(validator)") }
        // Asked for by us or not, libcurl would wait a second for leave to send a larger body.
        // An empty field would be signed and not sent; and a store may refuse before it gets the body.
        if request.method != .get, request.signature == nil { append("Expect:") }
    }

    func append(_ line: String) {
        if let longer = curl_slist_append(lines, line) { lines = longer }
    }

    private func setMethod(_ request: OriginRequest) {
        guard request.method != .get else { return }
        defer { set(CURLOPT_CUSTOMREQUEST, request.method.rawValue) }
        if outgoing != nil { return setUpload() }
        if request.method == .head { return set(CURLOPT_NOBODY, 1) }
        // With a body, even none, libcurl would give it a type that was not signed.
        if request.body.isEmpty, request.signature != nil { return }
        request.body.withUnsafeBytes { body in
            _ = weir_easy_set_offset(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
            let start = UnsafeMutableRawPointer(mutating: body.baseAddress ?? UnsafeRawPointer(handle))
            // Copied: as many bytes as the size just set says.
            _ = weir_easy_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, start)
        }
    }

    private func setCallbacks() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = weir_easy_set_pointer(handle, CURLOPT_HTTPHEADER, lines)
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA] {
            _ = weir_easy_set_pointer(handle, option, context)
        }
    }

    /// Sets the functions that come back to the request whose context a handle has.
    static func setFunctions(of handle: UnsafeMutableRawPointer) {
        _ = weir_easy_set_write(handle, CURLOPT_HEADERFUNCTION) { start, _, count, context in
            CurlRequest.from(context, start, count) { $0.receive(line: $1) ? $1.count : 0 }
        }
        _ = weir_easy_set_write(handle, CURLOPT_WRITEFUNCTION) { start, _, count, context in
            CurlRequest.from(context, start, count) { $0.receive($1) }
        }
        _ = weir_easy_set_opensocket(handle) { context, _, address in
            guard let context, let address else { return CURL_SOCKET_BAD }
            let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
            // libcurl calls on the loop's thread, and lends this for the call.
            nonisolated(unsafe) let unsafeAddress = address
            return LoopActor.assumeIsolated { request.open(unsafeAddress) }
        }
        _ = weir_easy_set_closesocket(handle) { context, socket in
            guard let context else { return Glibc.close(socket) }
            let sockets = Unmanaged<SocketWatches>.fromOpaque(context).takeUnretainedValue()
            return LoopActor.assumeIsolated { sockets.close(socket) }
        }
    }

    func set(_ option: CURLoption, _ value: Int) { _ = weir_easy_set_long(handle, option, value) }
    func set(_ option: CURLoption, _ value: String) { _ = weir_easy_set_text(handle, option, value) }

    // MARK: Callbacks

    nonisolated private static func from(
        _ context: UnsafeMutableRawPointer?, _ start: UnsafeMutablePointer<CChar>?, _ count: Int,
        _ body: @LoopActor (CurlRequest, UnsafeRawBufferPointer) -> Int
    ) -> Int {
        guard let context else { return 0 }
        let request = Unmanaged<CurlRequest>.fromOpaque(context).takeUnretainedValue()
        // libcurl calls on the loop's thread, and lends this for the call.
        nonisolated(unsafe) let bytes = UnsafeRawBufferPointer(start: start, count: count)
        return LoopActor.assumeIsolated { body(request, bytes) }
    }

    private func receive(line: UnsafeRawBufferPointer) -> Bool {
        guard !isHeadComplete else { return true }  // A trailer: nothing that we ask for.
        switch reply.receive(line: line) {
        case .incomplete: return true
        case .excessive:
            isExcessive = true
            return false
        case .complete:
            isHeadComplete = true
            reply.address = address
            return goOn(owner?.request(self, received: reply))
        }
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
        if isPaused { return weir_writefunc_pause }  // libcurl keeps them.
        return !isStopped && (multi?.stage(bytes, of: self) ?? false) ? bytes.count : 0
    }

    /// Passes bytes on to the owner; false when it wants no more.
    func deliver(_ bytes: UnsafeRawBufferPointer) -> Bool { goOn(owner?.request(self, received: bytes)) }

    private func goOn(_ wanted: Bool?) -> Bool {
        if wanted != true { isStopped = true }
        return wanted == true
    }

    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
        // The member is declared as a bare sockaddr; `addrlen` bytes of a longer one stand there.
        let raw = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(address) + offset, count: Int(address.pointee.addrlen))
        guard let target = SocketAddress(family: address.pointee.family, raw), rules.allows(target, isNamed: isNamed)
        else {
            refusals += 1
            return CURL_SOCKET_BAD
        }
        openings += 1
        let flags = Int32(SOCK_CLOEXEC.rawValue) | address.pointee.socktype
        let descriptor = socket(address.pointee.family, flags, address.pointee.protocol)
        if descriptor < 0 { socketError = errno } else { multi?.sockets.opened(descriptor) }
        return descriptor
    }

    // MARK: Pauses

    /// Whether its body waits.
    private(set) var isPaused = false

    /// Lets the body wait, or go on. The head comes all the same. Not from within a callback of libcurl.
    ///
    /// Its connection stays, and the kernel takes in what its window promises: see `SocketIntake`.
    func pause(_ wanted: Bool) {
        guard wanted != isPaused else { return }
        isPaused = wanted
        if wanted { intake.shrink() } else { intake.restore() }
        // Before the head libcurl has nothing to pause; the first bytes of the body will see to it.
        if isHeadComplete || !wanted { multi?.pause(self, wanted) }
    }

    /// How long its connection took to stand; nil where one was used again.
    var connectTime: Duration? {
        var (count, time) = (0, curl_off_t(0))
        _ = weir_easy_get_long(handle, CURLINFO_NUM_CONNECTS, &count)
        guard count > 0, weir_easy_get_offset(handle, CURLINFO_CONNECT_TIME_T, &time) == CURLE_OK else { return nil }
        return .microseconds(time)
    }

    /// What its connection takes in ahead of what is read.
    var intake = SocketIntake()

    /// Its connection's, from when libcurl first waits for it; CURLINFO_ACTIVESOCKET tells it only after the end.
    var descriptor: Int32 {
        get { intake.descriptor }
        set { intake.descriptor = newValue }
    }

    // MARK: The end

    /// The address that answers, without its port.
    private var address: String? {
        var text: UnsafePointer<CChar>?
        _ = weir_easy_get_text(handle, CURLINFO_PRIMARY_IP, &text)
        return text.map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Bytes of the body that came over the wire, before decoding.
    var encodedByteCount: Int64 {
        var count: curl_off_t = 0
        _ = weir_easy_get_offset(handle, CURLINFO_SIZE_DOWNLOAD_T, &count)
        return Int64(count)
    }

    /// libcurl is through with it; the request is off the handle.
    func end(_ code: CURLcode) {
        let outcome: TransferState.Outcome =
            switch code {
            case CURLE_OK: .finished
            case _ where isStopped: .stopped
            default: .failed(failure(code))
            }
        let owner = owner
        self.owner = nil
        owner?.request(self, ended: outcome)
    }

    private func failure(_ code: CURLcode) -> TransferState.Failure {
        if isExcessive { return .init(code: .malformedReply, underlying: "its head is too long") }
        if refusals > 0 && openings == 0 { return .init(code: .refusedAddress, isTransient: false) }
        if socketError != 0 { return .init(code: .local, underlying: String(cString: strerror(socketError))) }
        var systemError = 0
        _ = weir_easy_get_long(handle, CURLINFO_OS_ERRNO, &systemError)
        return TransferState.Failure(code, isHeadComplete: isHeadComplete, systemError: Int32(systemError))
    }
}
