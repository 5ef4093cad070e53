import EventLoop
import HTTPMessage
import Testing

@testable import Control

@LoopActor @Suite("Routes about publications") struct PublicationRoutesTests {
    /// Knows one asset, and what was asked of it.
    private final class ScriptedPublications: PublicationService {
        var requests: [API.PublicationRequest] = []
        var state = API.Publication.State.none

        func publish(
            assetNamed name: String, _ request: API.PublicationRequest
        ) async throws(ControlError) -> API.Publication {
            requests.append(request)
            state = .running
            return try await publication(ofAsset: name)
        }

        func publication(ofAsset name: String) async throws(ControlError) -> API.Publication {
            guard name == "sintel" else { throw ControlError(.noSuchAsset, "no asset is called \(name)") }
            return API.Publication(asset: name, state: state)
        }

        func cancelPublication(ofAsset name: String) async throws(ControlError) -> API.Publication {
            state = .cancelled
            return try await publication(ofAsset: name)
        }
    }

    private let publications = ScriptedPublications()

    private func ask(_ method: HTTPMethod, _ name: String = "sintel", _ body: String = "") async -> (Int, String) {
        let routes = ControlRoutes(service: ScriptedService(), publications: publications, token: "t")
        let response = await routes.respond(
            to: ControlRequest(
                method, "/api/v1/assets/\(name)/publication", authorization: "Bearer t",
                contentType: "application/json", body: Array(body.utf8)))
        return (response.status.code, String(decoding: response.body, as: UTF8.self))
    }

    @Test("begin, tell and end one, and no answer has a key")
    func routes() async {
        let keys = #"{"accessKey":"A","secretKey":"hiddensecret","sessionToken":"hiddentoken"}"#
        let answers = [
            await ask(.get), await ask(.post, "sintel", #"{"target":"s3://b/p","region":"r","keys":\#(keys)}"#),
            await ask(.get), await ask(.delete), await ask(.get),
        ]
        #expect(answers.map(\.0) == [200, 202, 200, 200, 200])
        for (answer, state) in zip(answers, ["none", "running", "running", "cancelled", "cancelled"]) {
            #expect(answer.1.contains(#""state":"\#(state)""#) && !answer.1.contains("hidden"), "\(answer.1)")
        }
        #expect(publications.requests.map(\.keys?.secretKey) == ["hiddensecret"])
        #expect(await ask(.get, "other").0 == 404)
        #expect(await ask(.put).0 == 405)
        let broken = await ask(.post, "sintel", #"{"keys":{"secretKey":"hiddensecret"}}"#)
        #expect(broken.0 == 400 && !broken.1.contains("hidden"))
        #expect(publications.requests.count == 1)
    }
}
