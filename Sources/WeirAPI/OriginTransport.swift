import EventLoop
import HTTPMessage
import Origin

extension APIClient {
    /// Creates a client over HTTP. It opens nothing before its first call.
    package init(state: StateDirectory, delegate: (any APIClientDelegate)? = nil, limit: Duration? = nil) {
        let transport = OriginTransport(to: "daemon", by: DaemonAccess(state: state))
        self.init(
            state: state, delegate: delegate, limit: limit,
            transport: { call throws(APIError) in try await transport.perform(call) },
            stream: { transport.stream($0) })
    }
}

/// Performs calls with Weir's HTTP client for origins; the called server takes the place of the origin.
@LoopActor final class OriginTransport {
    /// The daemon reads playlists before it answers a `POST`, and may have to wait for a slow origin.
    private static let timeLimit = Duration.seconds(120)
    /// For calls whose duration cannot be known. Without a deadline of its own a request would have that of a playlist, a minute.
    private static let longTimeLimit = Duration.seconds(365 * 86_400)
    lazy var client = OriginClient()
    private let peer: String
    /// Finds the way for calls with a token; nil for a peer that gets none.
    private let access: DaemonAccess?

    nonisolated init(to peer: String, by access: DaemonAccess? = nil) {
        self.peer = peer
        self.access = access
    }

    func perform(_ call: APIClient.Call) async throws(APIError) -> APIClient.Answer {
        let request = try request(call)
        do throws(OriginError) {
            let (head, body) = try await client.fetch(request)
            return APIClient.Answer(status: head.status, body: body)
        } catch {
            throw self.error(error, call)
        }
    }

    /// Streams the response's body. A status other than 200 is an error.
    nonisolated func stream(_ call: APIClient.Call) -> AsyncThrowingStream<[UInt8], any Error> {
        AsyncThrowingStream { continuation in
            Task { @LoopActor in
                do throws(APIError) {
                    var request = try self.request(call)
                    request.deadline = nil
                    let receiver = StreamReceiver(continuation) { self.error($0, call) }
                    let transfer = client.start(request, receiver: receiver)
                    continuation.onTermination = { _ in Task { @LoopActor in transfer.cancel() } }
                } catch {
                    continuation.finish(throwing: error)
                }
            }
        }
    }

    private func request(_ call: APIClient.Call) throws(APIError) -> OriginRequest {
        guard let method = HTTPMethod(rawValue: call.method), let url = try? WebURL(call.url),
            let authorization = FieldLine(Array("Authorization: Bearer \(call.token)".utf8)),
            let contentType = FieldLine(Array("Content-Type: application/json".utf8))
        else { throw APIError(.internal, "\(call.url) is not a valid URL") }

        var request = OriginRequest(url)
        request.method = method
        request.namedPeer = OriginRequest.Peer(of: url)

        if !call.token.isEmpty {
            if case .socket(let path) = try access?.way(to: url) {
                request.socket = path
            }
            request.credentials = OriginRequest.Credentials(origin: url.origin, fields: [authorization])
        }

        if let body = call.body {
            request.body = body
            request.fields = [contentType]
        }

        request.acceptsAnyStatus = true
        request.toleratesSilence = true
        if call.isLong {
            request.deadline = Self.longTimeLimit
        } else {
            request.deadline = call.limit ?? Self.timeLimit
        }
        request.retries = .never
        return request
    }

    private func error(_ error: OriginError, _ call: APIClient.Call) -> APIError {
        let peerName = "the \(peer) at \(Self.base(call))"
        return switch error.code {
        case .unreachable, .hostDead: APIError(.noDaemon, "no \(peer) answers at \(Self.base(call))", underlying: error)
        case .connectionLost, .cutShort:
            APIError(.stopping, "\(peerName) closed the connection", next: "repeat the command", underlying: error)
        case .timedOut, .stalled: APIError(.timeout, "\(peerName) does not answer in time", underlying: error)
        default: APIError(.internal, "the request to the \(peer) failed: \(error)", underlying: error)
        }
    }

    private static func base(_ call: APIClient.Call) -> String {
        String(call.url.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//"))
    }
}

/// Passes received bytes on to a stream.
@LoopActor private final class StreamReceiver: TransferReceiver {
    private let continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation
    private let translate: (OriginError) -> APIError
    private var status = 0

    init(
        _ continuation: AsyncThrowingStream<[UInt8], any Error>.Continuation,
        _ translate: @escaping (OriginError) -> APIError
    ) {
        self.continuation = continuation
        self.translate = translate
    }

    func transfer(_ transfer: Transfer, received head: OriginHead) { status = head.status }

    func transfer(_ transfer: Transfer, received bytes: UnsafeRawBufferPointer, at offset: Int64) {
        if status == 200 {
            continuation.yield(Array(bytes))
        }
    }

    func transfer(_ transfer: Transfer, ended result: Result<Void, OriginError>) {
        switch result {
        case .success where status == 200: continuation.finish()
        case .success:
            continuation.finish(throwing: APIError(.internal, "the daemon answered with status \(status)"))
        case .failure(let error): continuation.finish(throwing: translate(error))
        }
    }
}
