package import API
import AccessLog
package import EventLoop
package import HTTPMessage
import HTTPServer
import Playback

/// The parts of an HTTP request that the API uses.
package struct ControlRequest: Sendable {
    package var method: HTTPMethod
    /// The path without the query.
    package var path: String
    /// The query without its question mark.
    package var query: String?
    package var authorization: String?
    package var contentType: String?
    /// The Last-Event-ID field (WHATWG HTML §9.2.4).
    package var lastEventID: String?
    package var body: [UInt8]
    /// True if a process of the owner sent the request, as the system reports.
    package var isFromOwner = true
    /// The identity of the phone that sent the request with its token in the path; nil for a request from this machine.
    package var phone: String?

    package init(
        _ method: HTTPMethod, _ path: String, query: String? = nil, authorization: String? = nil,
        contentType: String? = nil, lastEventID: String? = nil, body: [UInt8] = []
    ) {
        (self.method, self.path, self.query, self.authorization) = (method, path, query, authorization)
        (self.contentType, self.lastEventID, self.body) = (contentType, lastEventID, body)
    }
}

/// A response of the API.
package struct ControlResponse: Sendable {
    package var status: HTTPStatus
    /// The body as JSON text.
    package var body: [UInt8]
    /// Media type of the body if it is not JSON.
    var mediaType: String?
    var events: EventReader?
    /// True if the body is a problem (RFC 9457).
    package var isProblem = false
    /// For a 405: the methods that the route takes.
    package var allow: String?
}

/// The secret that a request has shown. Its revocation ends the streams of events that were opened with it.
enum Credential: Hashable, Sendable {
    case token
    case pageKey(Int)
    case phone(String)

    var isPhone: Bool { if case .phone = self { true } else { false } }
}

/// The routes of the API. The token is checked first, so that a client without it cannot find out which routes exist.
@LoopActor package final class ControlRoutes: RequestPolicy {
    private let service: any ControlService
    private let events: EventFeed?
    /// The service for sessions; nil without playback.
    let sessions: (any SessionService)?
    private let verifications: (any JobService<API.Verification>)?
    let keys: (any KeyService)?
    private let publications: (any JobService<API.Publication>)?
    private let moves: (any JobService<API.Move>)?
    private let store: (any StoreService)?
    /// Finds the most recent link conditioner; nil if the daemon does not look for one.
    let conditioner: LinkFinder?
    /// The daemon's URL for the network; nil if it is not reachable from the network.
    package var lan: API.LAN?
    /// The phones that may use the page over the network; nil without a state directory.
    package var phones: Phones?
    /// The service for the streams file; nil without one.
    package var streams: StreamService?
    let otherUsers: OtherUsers
    private let token: [UInt8]
    package let pageKey = PageKey()

    /// Finds the most recent link conditioner, or throws `.noLink`.
    package typealias LinkFinder = @Sendable () throws(APIError) -> LinkClient

    /// Creates routes for clients that know the token. The routes of an omitted service do not exist.
    package init(
        service: any ControlService, events: EventFeed? = nil, sessions: (any SessionService)? = nil,
        verifications: (any JobService<API.Verification>)? = nil, keys: (any KeyService)? = nil,
        publications: (any JobService<API.Publication>)? = nil, moves: (any JobService<API.Move>)? = nil,
        store: (any StoreService)? = nil, conditioner: LinkFinder? = nil, token: String,
        otherUsers: OtherUsers = .nothing
    ) {
        (self.service, self.events, self.sessions, self.verifications) = (service, events, sessions, verifications)
        (self.keys, self.publications, self.moves, self.store) = (keys, publications, moves, store)
        self.conditioner = conditioner
        self.token = Array(token.utf8)
        self.otherUsers = otherUsers
    }

    /// True if a path belongs to the API, even if no route has it.
    package nonisolated static func owns(path: String) -> Bool { path == "/api" || path.hasPrefix("/api/") }

    /// Answers a request. Errors become responses, so this never throws.
    package func respond(to request: ControlRequest) async -> ControlResponse {
        do throws(APIError) {
            let credential = try credential(of: request)
            guard let route = ControlRoute(path: request.path) else { throw Self.unknown(request.path) }
            guard route.methods.contains(request.method) else { return try Self.notAllowed(request, route) }
            let query = try ControlQuery(request.query, knowing: route.parameters(of: request.method))
            guard credential.isPhone else { return try await answer(request, route, query, credential) }
            let admitted = try PhoneRights.admitted(request, route)
            var response = try await answer(admitted, route, query, credential)
            response.body = try PhoneRights.filtered(response.body, of: route)
            return response
        } catch {
            return Self.problem(request.phone == nil ? error : PhoneRights.filtered(error))
        }
    }

    private func answer(
        _ request: ControlRequest, _ route: ControlRoute, _ query: ControlQuery, _ credential: Credential
    ) async throws(APIError) -> ControlResponse {
        switch route {
        case .assets where request.method == .post:
            return ControlResponse(
                status: .created, body: try API.encode(try await service.importAsset(try Self.body(request))))
        case .export(let name): return try ok(try await service.export(try Self.body(request), ofAsset: name))
        case .assets:
            return ControlResponse(status: .ok, body: try await service.assets(API.AssetQuery(query)))
        case .asset(let name) where request.method == .delete: return try ok(try await service.removeAsset(named: name))
        case .asset(let name) where request.method == .patch:
            return try ok(try await service.change(try Self.body(request), ofAsset: name))
        case .asset(let name): return try ok(try await service.asset(named: name))
        case .policy(let name) where request.method != .put:
            return try ok(try await service.asset(named: name).storage?.policy ?? API.Policy())
        case .policy(let name): return try ok(try await service.setPolicy(try Self.body(request), ofAsset: name))
        case .artwork(let name) where request.method == .put:
            return try ok(try await service.setArtwork(request.body, ofAsset: name))
        case .artwork(let name):
            let artwork = try await service.artwork(ofAsset: name)
            return ControlResponse(status: .ok, body: artwork.bytes, mediaType: artwork.mediaType)
        case .keys(let name): return try await keys(request, of: name)
        case .cache(let name): return try ok(try await service.cache(try Self.body(request), ofAsset: name))
        case .tracks(let name): return try ok(try await service.attach(try Self.body(request), toAsset: name))
        case .track(let name, let id): return try ok(try await service.detach(id, fromAsset: name))
        case .update(let name): return try ok(try await service.update(assetNamed: name))
        case .job(.verification, let name): return try await answer(request, verifications, ofAsset: name)
        case .job(.publication, let name): return try await answer(request, publications, ofAsset: name)
        case .job(.move, let name): return try await answer(request, moves, ofAsset: name)
        case .mode where request.method == .put: return try ok(try await service.change(to: try Self.body(request)))
        case .mode: return try ok(try await service.mode())
        case .page:
            if request.method == .delete {
                let ended = try pageKey.replace()
                events?.end(.pageKey(ended))
            }
            return try ok(API.PageLink(path: "\(PageRoutes.entrance)\(pageKey.text)/"))
        case .paste:
            let pasted: API.PastedText = try Self.body(request)
            return try ok(CurlOrder(text: pasted.text).request)
        case .presentation where request.method == .post: return try ok(try await service.open(try Self.body(request)))
        case .presentation: return try ok(try await service.inspect(url: try Self.url(query)))
        case .selection: return try ok(try await service.explain(try Self.body(request)))
        case .streams:
            guard let streams else { throw Self.unknown(request.path) }
            return try ok(try await streams.add(try Self.body(request)))
        case .log(let route): return try await answer(request, route, query)
        case .download(let id): return try ok(try await service.download(id: id))
        case .downloads where request.method != .post:
            return try ok(API.DownloadList(downloads: try await service.downloads()))
        case .downloads:
            let download = try await service.download(try Self.body(request))
            return ControlResponse(status: .accepted, body: try API.encode(download))
        case .change(let change, let id):
            let resumption = request.body.isEmpty ? API.ResumeRequest() : try Self.body(request)
            return try ok(try await service.change(change, id: id, resumption))
        case .events: return try await eventStream(request, of: credential)
        case .store:
            guard let store else { throw Self.unknown(request.path) }
            return try ok(try await store.store())
        case .link: return try await link(request)
        case .lan:
            guard let lan else { throw APIError(.noLAN, "this daemon listens on loopback addresses only") }
            return try ok(lan)
        case .phones, .phone: return try answer(request, ofPhones: route)
        case .document: return ControlResponse(status: .ok, body: API.document)
        }
    }

    private func eventStream(
        _ request: ControlRequest, of credential: Credential
    ) async throws(APIError) -> ControlResponse {
        guard let events else { throw APIError(.noSuchRoute, "this daemon has no event stream") }
        await events.prepare()
        return ControlResponse(status: .ok, body: [], events: events.reader(after: request.lastEventID, of: credential))
    }

    func ok(_ value: some Encodable) throws(APIError) -> ControlResponse {
        ControlResponse(status: .ok, body: try API.encode(value))
    }

    /// True if a request with this head may have a long body: an image or a list of streams from a client with a valid token.
    package nonisolated func admitsLongBody(_ head: RequestHead) -> Bool {
        switch ControlRoute(path: head.path) {
        case .artwork? where head.method == .put, .streams?:
            isToken(head[.authorization]) || pageKey.number(in: head[.authorization]) != nil
        default: false
        }
    }

    nonisolated func isToken(_ authorization: String?) -> Bool { Bearer.holds(token, authorization) }

    private func credential(of request: ControlRequest) throws(APIError) -> Credential {
        if let phone = request.phone { return .phone(phone) }
        if isToken(request.authorization) { return .token }
        if let number = pageKey.number(in: request.authorization), request.isFromOwner || !pageKey.isKept {
            return .pageKey(number)
        }
        throw APIError(
            .unauthorized, "the API requires the token of the state directory as Authorization: Bearer",
            next: "read it from the file named token in the state directory")
    }

    private static func url(_ query: ControlQuery) throws(APIError) -> String {
        guard let url = query["url"], !url.isEmpty else {
            throw APIError(.badRequest, "the query must have url=, percent-encoded")
        }
        return url
    }

    /// Answers a request about the phones of the network.
    private func answer(_ request: ControlRequest, ofPhones route: ControlRoute) throws(APIError) -> ControlResponse {
        guard let phones else { throw Self.unknown(request.path) }
        if case .phone(let name) = route { return try ok(try revoke(name, phones)[0]) }
        switch request.method {
        case .delete: return try ok(API.PhoneList(phones: try revoke(nil, phones)))
        case .post:
            let order: API.PhoneRequest = try Self.body(request)
            guard let lan else { throw APIError(.noLAN, "this daemon listens on loopback addresses only") }
            let token = try phones.admit(order.name)
            let link = API.PhoneLink(name: order.name, url: "\(lan.base)/t/\(token)/")
            return ControlResponse(status: .created, body: try API.encode(link))
        default: return try ok(API.PhoneList(phones: phones.all))
        }
    }

    private func revoke(_ name: String?, _ phones: Phones) throws(APIError) -> [API.Phone] {
        try phones.revoke(name).map { record in
            events?.end(.phone(record.digest))
            return record.phone
        }
    }

    static func body<Shape: Codable>(_ request: ControlRequest) throws(APIError) -> Shape {
        guard let type = request.contentType.flatMap({ MediaType($0) }), type.essence == "application/json" else {
            throw APIError(.unsupportedMediaType, "the body's Content-Type must be application/json")
        }
        return try API.body(from: request.body)
    }

    /// The error of an unknown path; names the version if the path is of another version of the API.
    static func unknown(_ path: String) -> APIError {
        let version = path.split(separator: "/").dropFirst().first ?? ""
        guard version.first == "v", version != "v1", Int(version.dropFirst()) != nil else {
            return APIError(.noSuchRoute, "the API has no \(path)")
        }
        return APIError(.unknownVersion, "this Weir has version 1 of the API, not version \(version.dropFirst())")
    }

    private static func notAllowed(
        _ request: ControlRequest, _ route: ControlRoute
    ) throws(APIError) -> ControlResponse {
        let sentence = "\(request.path) accepts \(route.allow), not \(request.method.rawValue)"
        var response = problem(APIError(.methodNotAllowed, sentence))
        response.allow = route.allow
        return response
    }

    nonisolated static func problem(_ error: APIError) -> ControlResponse {
        // A problem has only integers and strings, which JSON can always encode.
        let body = (try? API.encode(API.Problem(error))) ?? []
        return ControlResponse(status: HTTPStatus(error.code.status), body: body, isProblem: true)
    }

    /// Answers a request about a job on an asset.
    func answer<Job: API.Job>(
        _ request: ControlRequest, _ jobs: (any JobService<Job>)?, ofAsset name: String
    ) async throws(APIError) -> ControlResponse {
        guard let jobs else { throw Self.unknown(request.path) }
        switch request.method {
        case .post:
            let plain = request.body.isEmpty ? Job.requestWithoutBody : nil
            let order = if let plain { plain } else { try Self.body(request) as Job.Request }
            let job = try await jobs.begin(order, ofAsset: name)
            return ControlResponse(status: .accepted, body: try API.encode(job))
        case .delete: return try ok(try await jobs.cancelJob(ofAsset: name))
        default: return try ok(try await jobs.job(ofAsset: name))
        }
    }

    /// Answers a request about the keys of an asset, or of all assets if `name` is nil.
    func keys(_ request: ControlRequest, of name: String?) async throws(APIError) -> ControlResponse {
        guard let keys else { throw Self.unknown(request.path) }
        guard let name else {
            guard request.method == .post else { return try ok(try await keys.allKeys()) }
            let order: API.KeyOrder = try Self.body(request)
            guard order == API.KeyOrder(.revoke) else {
                throw APIError(.badRequest, "for the keys of all assets, only {\"action\": \"revoke\"} is possible")
            }
            return try ok(try await keys.revokeAllKeys())
        }
        guard request.method == .post else { return try ok(try await keys.keys(ofAsset: name)) }
        return try ok(try await keys.order(try Self.body(request), ofAsset: name))
    }

    func answer(_ request: ControlRequest, _ route: LogRoute, _ query: ControlQuery) async throws(APIError)
        -> ControlResponse
    {
        guard let sessions else { throw Self.unknown(request.path) }
        switch route {
        case .sessions: return try ok(try await sessions.sessions())
        case .report(let session):
            let report: PlayerReport = try Self.body(request)
            if let key = report.keyOutOfRange {
                throw APIError(.badRequest, "\(key) is out of its range", next: "correct it, or leave it out")
            }
            return try ok(try await sessions.record(report, of: session))
        case .access: return try ok(try await sessions.accessLog(LogQuery(query)))
        case .errors: return try ok(try await sessions.errorLog(LogQuery(query)))
        case .kpis: return try ok(API.KPIReport(try await sessions.accessLog(LogQuery(query)).events))
        case .timelines: return try ok(try await sessions.timelines(LogQuery(query)))
        case .picture(let session):
            let width = try query.count("width", upTo: SessionPicture.widths.upperBound)
            let picture = try await sessions.picture(of: session, width: width)
            return ControlResponse(status: .ok, body: Array(picture.svg.utf8), mediaType: "image/svg+xml")
        }
    }

    /// Answers a request about the most recent link conditioner that uses this daemon's state directory.
    func link(_ request: ControlRequest) async throws(APIError) -> ControlResponse {
        guard let conditioner else { throw Self.unknown(request.path) }
        guard request.method == .patch else { return try ok(try await conditioner().state()) }
        let change: LinkChange = try Self.body(request)
        return try ok(try await conditioner().change(change))
    }
}
