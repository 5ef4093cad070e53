import EventLoop
import HTTPMessage
import Testing

@testable import Control

/// The routes of verifications, and the JSON that scripts hang on.
@Suite @LoopActor struct VerificationRouteTests {
    /// A service that knows one asset.
    @LoopActor private final class Verifications: VerificationService {
        var calls: [String] = []

        private func verification(_ name: String, _ call: String) throws(ControlError) -> API.Verification {
            guard name == "a b" else { throw ControlError(.noSuchAsset, "there is no asset called \(name)") }
            calls.append(call)
            return API.Verification(asset: name, state: .running)
        }

        func verify(
            assetNamed name: String, _ request: API.VerificationRequest
        ) async throws(ControlError) -> API.Verification {
            try verification(name, "verify \(request.repair ?? false)")
        }

        func verification(ofAsset name: String) async throws(ControlError) -> API.Verification {
            try verification(name, "look")
        }

        func cancelVerification(ofAsset name: String) async throws(ControlError) -> API.Verification {
            try verification(name, "cancel")
        }
    }

    private let verifications = Verifications()

    private func respond(
        _ method: HTTPMethod, _ name: String = "a%20b", body: String = "", token: String = "secret"
    ) async -> ControlResponse {
        let routes = ControlRoutes(service: ScriptedService(), verifications: verifications, token: "secret")
        return await routes.respond(
            to: ControlRequest(
                method, "/api/v1/assets/\(name)/verification", authorization: "Bearer \(token)",
                contentType: body.isEmpty ? nil : "application/json", body: Array(body.utf8)))
    }

    @Test func oneIsBegunLookedAtAndGivenUp() async throws {
        #expect(await respond(.post).status == .accepted)
        #expect(await respond(.post, body: #"{"repair":true}"#).status == .accepted)
        let look = await respond(.get)
        #expect(look.status == .ok)
        #expect(try API.decode(API.Verification.self, from: look.body).state == .running)
        #expect(await respond(.delete).status == .ok)
        #expect(verifications.calls == ["verify false", "verify true", "look", "cancel"])
    }

    @Test func whatIsNoRequestIsRefused() async throws {
        #expect(await respond(.get, "none").status == .notFound)
        #expect(await respond(.post, body: #"{"repair":"yes"}"#).status == .badRequest)
        #expect(await respond(.post, token: "other").status == .unauthorized)
        let put = await respond(.put)
        #expect(put.status == .methodNotAllowed && put.allow == "GET, HEAD, POST, DELETE")
        let routes = ControlRoutes(service: ScriptedService(), token: "secret")
        let request = ControlRequest(.get, "/api/v1/assets/a/verification", authorization: "Bearer secret")
        #expect(await routes.respond(to: request).status == .notFound)
        #expect(verifications.calls.isEmpty)
    }

    @Test func aVerificationAsJSON() throws {
        var verification = API.Verification(asset: "sintel", state: .done)
        (verification.bytes, verification.totalBytes, verification.found, verification.remaining) = (900, 1000, 3, 2)
        verification.verified = 1_800_000_000
        var part = API.Verification.Part(
            id: "video-720p", pieces: 7, bytes: 900, whole: [.init(start: 0, end: 4)])
        part.holes = [.init(time: .init(start: 4, end: 8), first: "2.ts", last: "3.ts", count: 2, isWanted: true)]
        part.mismatches = [.init(file: "9.ts", time: .init(start: 18, end: 20), fault: "bytes", isMended: true)]
        part.remaining = 2
        verification.parts = [part]
        let text = String(decoding: try API.encode(verification), as: UTF8.self)
        #expect(
            text == #"{"asset":"sintel","bytes":900,"found":3,"isRepair":false,"#
                + #""parts":[{"bytes":900,"holes":[{"count":2,"first":"2.ts","isWanted":true,"last":"3.ts","time":[4,8]}],"#
                + #""id":"video-720p","mismatches":[{"fault":"bytes","file":"9.ts","isMended":true,"time":[18,20]}],"#
                + #""pieces":7,"remaining":2,"whole":[[0,4]]}],"remaining":2,"#
                + #""state":"done","totalBytes":1000,"verified":1800000000}"#)
        #expect(try API.decode(API.Verification.self, from: Array(text.utf8)) == verification)
        let event = API.Event.verification(verification)
        #expect(try API.Event(name: event.name, data: event.data) == event)
    }
}
