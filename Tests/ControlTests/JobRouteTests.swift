import EventLoop
import HTTPMessage
import Orders
import Testing
import WeirAPI

@testable import Control

/// The routes of jobs of every kind.
@Suite @LoopActor struct JobRouteTests {
    private let verifications = ScriptedJobs { API.Verification(asset: $0, state: .running) }
    private let publications = ScriptedJobs { API.Publication(asset: $0, state: .running) }
    private let moves = ScriptedJobs { API.Move(asset: $0, state: .running) }

    private func respond(
        _ kind: API.JobKind, _ method: HTTPMethod, _ name: String = "a%20b", body: String = "", token: String = "secret"
    ) async -> ControlResponse {
        var handlers = EndpointHandlers()
        verifications.register(Endpoints.verification, in: &handlers)
        publications.register(Endpoints.publication, in: &handlers)
        moves.register(Endpoints.move, in: &handlers)
        let routes = ControlRoutes(handlers, token: "secret")
        return await routes.respond(
            to: ControlRequest(
                method, "/api/v1/assets/\(name)/\(kind.rawValue)", authorization: "Bearer \(token)",
                contentType: body.isEmpty ? nil : "application/json", body: Array(body.utf8)))
    }

    private func body(_ kind: API.JobKind) -> String {
        switch kind {
        case .verification: #"{"repair":true}"#
        case .publication: #"{"target":"/films"}"#
        case .move: #"{"path":"/volume"}"#
        }
    }

    /// The recorded calls of each kind of job.
    private var calls: [API.JobKind: [String]] {
        [.verification: verifications.calls, .publication: publications.calls, .move: moves.calls]
    }

    @Test(arguments: API.JobKind.allCases)
    func aJobIsStartedReadAndCancelled(kind: API.JobKind) async {
        let answers = [
            await respond(kind, .post, body: body(kind)), await respond(kind, .get), await respond(kind, .delete),
        ]
        #expect(answers.map(\.status) == [.accepted, .ok, .ok])
        for answer in answers {
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.hasPrefix(#"{"asset":"a b","#) && text.contains(#""state":"running""#), "\(text)")
        }
        #expect(calls.mapValues(\.count).filter { $0.value > 0 } == [kind: 3])
        #expect(calls[kind] == ["begin a b", "look a b", "cancel a b"])
    }

    @Test(arguments: API.JobKind.allCases)
    func invalidRequestsAreRefused(kind: API.JobKind) async {
        #expect(await respond(kind, .get, "none").status == .notFound)
        #expect(await respond(kind, .post, body: #"{"repair":"yes","path":1}"#).status == .badRequest)
        #expect(await respond(kind, .post, body: body(kind), token: "other").status == .unauthorized)
        let put = await respond(kind, .put)
        #expect(put.status == .methodNotAllowed && put.allow == "GET, HEAD, POST, DELETE")
        let routes = ControlRoutes(ScriptedService().handlers, token: "secret")
        let request = ControlRequest(.get, "/api/v1/assets/a/\(kind.rawValue)", authorization: "Bearer secret")
        #expect(await routes.respond(to: request).status == .notFound)
        #expect(Array(calls.values) == [[], [], []])
    }

    @Test func onlyAVerificationStartsWithoutABody() async {
        #expect(await respond(.verification, .post).status == .accepted)
        #expect(await respond(.publication, .post).status == .unsupportedMediaType)
        #expect(await respond(.move, .post).status == .unsupportedMediaType)
        #expect(await respond(.verification, .post, body: #"{"repair":true}"#).status == .accepted)
        #expect(verifications.requests.map(\.repair) == [nil, true])
        #expect(publications.requests.isEmpty && moves.requests.isEmpty)
    }

    @Test func noResponseHasAKeyOfAnObjectStore() async {
        let keys = #"{"accessKey":"A","secretKey":"hiddensecret","sessionToken":"hiddentoken"}"#
        let answers = [
            await respond(.publication, .post, body: #"{"target":"s3://b/p","region":"r","keys":\#(keys)}"#),
            await respond(.publication, .get), await respond(.publication, .delete),
            await respond(.publication, .post, body: #"{"keys":{"secretKey":"hiddensecret"}}"#),
        ]
        #expect(answers.map(\.status) == [.accepted, .ok, .ok, .badRequest])
        for answer in answers {
            #expect(!String(decoding: answer.body, as: UTF8.self).contains("hidden"))
        }
        #expect(publications.requests.map(\.keys?.secretKey) == ["hiddensecret"])
    }
}

/// Knows one asset, `a b`, and records the calls for it.
@LoopActor private final class ScriptedJobs<Job: API.Job> {
    private(set) var requests: [Job.Request] = []
    private(set) var calls: [String] = []
    private let make: (String) -> Job

    init(_ make: @escaping (String) -> Job) { self.make = make }

    private func note(_ call: String, _ name: String) throws(APIError) -> Job {
        guard name == "a b" else { throw APIError(.noSuchAsset, "there is no asset named \(name)") }
        calls.append("\(call) \(name)")
        return make(name)
    }

    func register(_ endpoints: JobEndpoints<Job>, in handlers: inout EndpointHandlers) {
        handlers.on(endpoints.begin) { call, request throws(APIError) in
            let job = try self.note("begin", call.item)
            self.requests.append(request)
            return job
        }
        handlers.on(endpoints.look) { call throws(APIError) in try self.note("look", call.item) }
        handlers.on(endpoints.cancel) { call throws(APIError) in try self.note("cancel", call.item) }
    }
}
