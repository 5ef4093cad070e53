import EventLoop
import HTTPMessage
import Testing

@testable import Control

@LoopActor @Suite struct ExchangeRoutesTests {
    private let service = ScriptedService()

    private func post(_ path: String, _ body: String) async -> (status: HTTPStatus, text: String) {
        let request = ControlRequest(
            .post, path, authorization: "Bearer secret-token", contentType: "application/json", body: Array(body.utf8))
        let response = await ControlRoutes(service.handlers, token: "secret-token").respond(to: request)
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    @Test func anExportReturnsItsResult() async {
        let answer = await post("/api/v1/assets/sintel/export", #"{"path":"/out/film.mkv","format":"mkv"}"#)
        #expect(answer.status == .ok)
        #expect(answer.text == #"{"bytes":7,"format":"mkv","name":"sintel","path":"/out/film.mkv"}"#)
        #expect(await post("/api/v1/assets/other/export", #"{"path":"/out"}"#).status == .notFound)
        #expect(await post("/api/v1/assets/sintel/export", #"{"path":"/out","format":"avi"}"#).status == .badRequest)
        #expect(await post("/api/v1/assets/sintel/export", "{}").status == .badRequest)
    }

    @Test func anImportReturnsTheAsset() async {
        let answer = await post("/api/v1/assets", #"{"path":"/in/film","name":"mine"}"#)
        #expect(answer.status == .created)
        #expect(answer.text.contains(#""name":"mine""#))
        let refused = await post("/api/v1/assets", #"{"path":"/nowhere"}"#)
        #expect(refused.status == HTTPStatus(422) && refused.text.contains(#""code":"bad-import""#))
        #expect(await post("/api/v1/assets", "{}").status == .badRequest)
    }
}
