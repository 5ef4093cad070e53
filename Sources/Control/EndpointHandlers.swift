import EventLoop
internal import HTTPMessage
package import WeirAPI

/// The request of an endpoint, beside its body.
package struct EndpointCall: Sendable {
    /// The values of the path's `{…}`.
    package let items: [String]
    let query: ControlQuery
    let credential: Credential
    /// The Last-Event-ID field (WHATWG HTML §9.2.4).
    let lastEventID: String?

    /// The value of the path's first `{…}`: the name of an asset, or the id of a download or session.
    package var item: String { items[0] }

    /// The value of `url=`, or throws `.badRequest`.
    package func url() throws(APIError) -> String {
        guard let url = query["url"], !url.isEmpty else {
            throw APIError(.badRequest, "the query must have url=, percent-encoded")
        }
        return url
    }
}

/// The endpoints that a server has, each with the handler that a service has registered for it.
package struct EndpointHandlers: Sendable {
    package typealias Handler<Request, Reply> =
        @LoopActor @Sendable (EndpointCall, Request) async throws(APIError) ->
        Reply
    package typealias HandlerWithoutBody<Reply> = @LoopActor @Sendable (EndpointCall) async throws(APIError) -> Reply

    struct Entry: Sendable {
        let line: EndpointLine
        let respond: @LoopActor @Sendable (EndpointCall, ControlRequest) async throws(APIError) -> ControlResponse
    }

    private(set) var entries: [Entry] = []
    private let findAsset: @LoopActor @Sendable (String) async -> Void

    /// - Parameter findAsset: returns once it is known whether there is an asset or stream of a name, which a request's path has.
    package init(findAsset: @escaping @LoopActor @Sendable (String) async -> Void = { _ in }) {
        self.findAsset = findAsset
    }

    /// Registers a handler of an endpoint with a JSON body.
    package mutating func on<Request: Codable, Reply: Codable>(
        _ endpoint: Endpoint<Request, Reply>, _ handler: @escaping Handler<Request, Reply>
    ) {
        add(endpoint.line) { call, request throws(APIError) in
            let body = try Self.body(request, of: endpoint)
            let reply: Reply
            do throws(APIError) {
                reply = try await handler(call, try PhoneRights.admitted(body, from: call.credential))
            } catch {
                guard let source = (body as? any SourcedRequest)?.source else { throw error }
                throw error.naming(source)
            }
            return try await Self.response(reply, of: endpoint.line, to: call.credential)
        }
    }

    /// Registers a handler of an endpoint without a body.
    package mutating func on<Reply: Codable>(
        _ endpoint: Endpoint<API.Nothing, Reply>, _ handler: @escaping HandlerWithoutBody<Reply>
    ) {
        add(endpoint.line) { call, _ throws(APIError) in
            let reply = try await handler(call)
            return try await Self.response(reply, of: endpoint.line, to: call.credential)
        }
    }

    /// Registers a handler of an endpoint whose body is an image.
    package mutating func on<Reply: Codable>(
        _ endpoint: Endpoint<API.Bytes, Reply>, _ handler: @escaping Handler<[UInt8], Reply>
    ) {
        add(endpoint.line) { call, request throws(APIError) in
            let reply = try await handler(call, request.body)
            return try await Self.response(reply, of: endpoint.line, to: call.credential)
        }
    }

    /// Registers a handler that makes its response itself: one of another media type, a stream, or JSON that is encoded already.
    mutating func onBytes<Reply>(
        _ endpoint: Endpoint<API.Nothing, Reply>, _ handler: @escaping HandlerWithoutBody<ControlResponse>
    ) {
        add(endpoint.line) { call, _ throws(APIError) in try await handler(call) }
    }

    private mutating func add(
        _ line: EndpointLine,
        _ respond:
            @escaping @LoopActor @Sendable (EndpointCall, ControlRequest) async throws(APIError) ->
            ControlResponse
    ) {
        guard line.namesAsset else {
            entries.append(Entry(line: line, respond: respond))
            return
        }
        let findAsset = findAsset
        entries.append(
            Entry(line: line) { call, request throws(APIError) in
                await findAsset(call.item)
                do throws(APIError) {
                    return try await respond(call, request)
                } catch {
                    // The next step names the asset of the path.
                    throw error.naming(call.item)
                }
            })
    }

    private static func body<Request: Codable, Reply>(
        _ request: ControlRequest, of endpoint: Endpoint<Request, Reply>
    ) throws(APIError) -> Request {
        if request.body.isEmpty, let plain = endpoint.requestWithoutBody {
            return plain
        }
        guard let type = request.contentType.flatMap({ MediaType($0) }), type.essence == "application/json" else {
            throw APIError(.unsupportedMediaType, "the body's Content-Type must be application/json")
        }
        return try API.body(from: request.body)
    }

    /// Long replies are encoded outside the loop, one after the other, for all clients together.
    private final class Encoding: Sendable {}
    private static let encoding = Encoding()

    @LoopActor private static func response<Reply: Codable & Sendable>(
        _ reply: Reply, of line: EndpointLine, to credential: Credential
    ) async throws(APIError) -> ControlResponse {
        let size = (reply as? any LongReply)?.textSize ?? 0
        let isForPhone = credential.isPhone
        let body = await PureWork.shared.run(size: size, for: encoding) {
            Result { () throws(APIError) in
                guard isForPhone else { return try API.encode(reply) }
                return try PhoneRights.encoded(reply)
            }
        }
        guard let body else { throw APIError(.internal, "the response was not encoded") }
        return ControlResponse(status: HTTPStatus(line.status), body: try body.get())
    }

    // MARK: Finding

    /// The endpoints of a path, with the values of its `{…}`. Empty if the server has none.
    func entries(at path: String) -> [(entry: Entry, items: [String])] {
        guard let components = EndpointLine.components(of: path) else { return [] }
        return entries.compactMap { entry in
            entry.line.items(in: components).map { (entry, $0) }
        }
    }

    /// The endpoint of a path and a method; nil if the server has none.
    func line(_ method: HTTPMethod, at path: String) -> EndpointLine? {
        let wanted = method.ofEndpoint
        return entries(at: path).lazy.map(\.entry.line).first { $0.method == wanted }
    }
}

extension HTTPMethod {
    /// The method of the endpoint that answers it: HEAD is answered wherever GET is.
    var ofEndpoint: HTTPMethod { self == .head ? .get : self }
}

/// The body of a request about the asset of a URL or a name.
private protocol SourcedRequest {
    var source: String { get }
}

extension API.DownloadRequest: SourcedRequest {}
extension API.PresentationRequest: SourcedRequest {}

/// A reply whose text may be long.
private protocol LongReply {
    /// The approximate length of its text, in bytes.
    var textSize: Int { get }
}

extension API.Asset: LongReply {
    fileprivate var textSize: Int { tracks.textSize + 256 * (parts?.count ?? 0) }
}

extension API.Presentation: LongReply {
    fileprivate var textSize: Int { tracks.textSize + 128 * (explanation?.others.count ?? 0) }
}

extension API.Download: LongReply {
    fileprivate var textSize: Int { (unselected?.textSize ?? 0) + 256 * parts.count }
}

extension API.DownloadList: LongReply {
    fileprivate var textSize: Int { downloads.reduce(0) { $0 + 1024 + $1.textSize } }
}
