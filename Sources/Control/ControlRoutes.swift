// The room Control.
//
// Duty: the server side of the API, events, metrics, the page.
// Entrance: `ControlRoutes`, which calls the services by the table of `WeirAPI`.
// Does not enter: what an order does: each service hands it to the room that owns it.

import AccessLog
package import EventLoop
package import HTTPMessage
import HTTPServer
import Playback
import WeirAPI

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
        self.method = method
        self.path = path
        self.query = query
        self.authorization = authorization
        self.contentType = contentType
        self.lastEventID = lastEventID
        self.body = body
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

    var isPhone: Bool {
        guard case .phone = self else { return false }
        return true
    }
}

/// The routes of the API. The token is checked first, so that a client without it cannot find out which routes exist.
@LoopActor package final class ControlRoutes: RequestPolicy {
    private let handlers: EndpointHandlers
    package let access: AccessService
    let otherUsers: OtherUsers
    private let token: [UInt8]

    /// The table of the endpoints that this server has.
    var lines: [EndpointLine] { handlers.entries.map(\.line) }

    package nonisolated var pageKey: PageKey { access.pageKey }

    /// Creates routes for clients that know the token. Routes without a handler do not exist.
    package init(
        _ services: EndpointHandlers, events: EventFeed? = nil, token: String, otherUsers: OtherUsers = .nothing
    ) {
        access = AccessService(events: events)
        var handlers = services
        access.register(in: &handlers)
        handlers.on(Endpoints.paste) { _, pasted throws(APIError) in try CurlOrder(text: pasted.text).request }
        handlers.onBytes(Endpoints.document) { _ in ControlResponse(status: .ok, body: API.document) }
        self.handlers = handlers
        self.token = Array(token.utf8)
        self.otherUsers = otherUsers
    }

    /// True if a path belongs to the API, even if no route has it.
    package nonisolated static func owns(path: String) -> Bool { path == "/api" || path.hasPrefix("/api/") }

    /// Answers a request. Errors become responses, so this never throws.
    package func respond(to request: ControlRequest) async -> ControlResponse {
        do throws(APIError) {
            let credential = try credential(of: request)
            let found = handlers.entries(at: request.path)
            guard !found.isEmpty else { throw Self.unknown(request.path) }
            let method = request.method.ofEndpoint
            guard let (entry, items) = found.first(where: { $0.entry.line.method == method }) else {
                return Self.notAllowed(request, found.map(\.entry.line.method))
            }

            let query = try ControlQuery(request.query, knowing: entry.line.query)
            if credential.isPhone, !entry.line.isForPhones {
                throw PhoneRights.refusal("this")
            }
            let call = EndpointCall(
                items: items, query: query, credential: credential, lastEventID: request.lastEventID)
            return try await entry.respond(call, request)
        } catch {
            guard request.phone != nil else { return Self.problem(error) }
            return Self.problem(PhoneRights.filtered(error))
        }
    }

    /// The methods of a path as the value of the Allow field (RFC 9110 §10.2.1). HEAD is allowed where GET is.
    private static func notAllowed(_ request: ControlRequest, _ methods: [HTTPMethod]) -> ControlResponse {
        let allowed = HTTPMethod.allCases.filter { methods.contains($0.ofEndpoint) }
        let allow = allowed.map(\.rawValue).joined(separator: ", ")
        let sentence = "\(request.path) accepts \(allow), not \(request.method.rawValue)"
        var response = problem(APIError(.methodNotAllowed, sentence))
        response.allow = allow
        return response
    }

    /// True if a request with this head may have a long body: an image or a list of streams from a client with a valid token.
    package nonisolated func admitsLongBody(_ head: RequestHead) -> Bool {
        guard handlers.line(head.method, at: head.path)?.hasLongBody ?? false else { return false }
        return isToken(head[.authorization]) || pageKey.number(in: head[.authorization]) != nil
    }

    /// True if a request of this method reads a file or folder that the user names.
    func readsHandedInFiles(_ method: HTTPMethod, at path: String) -> Bool {
        handlers.line(method, at: path)?.readsHandedInFiles ?? false
    }

    nonisolated func isToken(_ authorization: String?) -> Bool { Bearer.holds(token, authorization) }

    /// True if a request has the credential of someone who may use the API.
    func isAdmitted(_ request: ControlRequest) -> Bool { (try? credential(of: request)) != nil }

    private func credential(of request: ControlRequest) throws(APIError) -> Credential {
        if let phone = request.phone {
            return .phone(phone)
        }
        if isToken(request.authorization) {
            return .token
        }
        if let number = pageKey.number(in: request.authorization), request.isFromOwner || !pageKey.isKept {
            return .pageKey(number)
        }
        throw APIError(
            .unauthorized, "the API requires the token of the state directory as Authorization: Bearer",
            next: "read it from the file named token in the state directory")
    }

    /// The error of an unknown path; names the version if the path is of another version of the API.
    static func unknown(_ path: String) -> APIError {
        let version = path.split(separator: "/").dropFirst().first ?? ""
        guard version.first == "v", version != "v1", Int(version.dropFirst()) != nil else {
            return APIError(.noSuchRoute, "the API has no \(path)")
        }
        return APIError(.unknownVersion, "this Weir has version 1 of the API, not version \(version.dropFirst())")
    }

    nonisolated static func problem(_ error: APIError) -> ControlResponse {
        // A problem has only integers and strings, which JSON can always encode.
        let body = (try? API.encode(API.Problem(error))) ?? []
        return ControlResponse(status: HTTPStatus(error.code.status), body: body, isProblem: true)
    }
}
