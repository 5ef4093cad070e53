import Foundation
import SafeText
import TestSupport
import Testing

@testable import WeirAPI

/// Tests the client of a link conditioner without a socket.
@Suite struct LinkClientTests {
    private static let answer = """
        {"preset":null,"down":null,"up":256000,"delayDown":0.5,"delayUp":5,"loss":0,"dnsDelay":0,"upstream":"http://h:1",
        "listening":"http://127.0.0.1:2","connections":1,"accepted":2,"seconds":1.5,"bytesDown":3,"bytesUp":4,"rateDown":5,
        "rateUp":6,"new":7}
        """

    private func client(_ status: Int, _ text: String) throws -> LinkClient {
        try LinkClient(control: "http://127.0.0.1:9") { call throws(APIError) in
            guard call.url == "http://127.0.0.1:9/_link", call.token.isEmpty else {
                throw APIError(.noDaemon, "not the link")
            }
            return APIClient.Answer(status: status, body: Array(text.utf8))
        }
    }

    @Test func aStateWithoutLimitAndPresetIsDecoded() async throws {
        let state = try await client(200, Self.answer).state()
        #expect(state.figures.preset == nil && state.figures.down == .unlimited && state.figures.up == .bits(256_000))
        #expect(state.figures.delayDown == 0.5 && state.traffic.accepted == 2 && state.traffic.rateUp == 6)
        #expect(try API.decode(LinkState.self, from: API.encode(state)) == state)
    }

    @Test func aChangeHasOnlyChangedKeys() throws {
        var change = LinkChange()
        change.down = .unlimited
        change.up = .bits(1000)
        change.loss = 2
        #expect(try String(decoding: API.encode(change), as: UTF8.self) == #"{"down":null,"loss":2,"up":1000}"#)
        #expect(try String(decoding: API.encode(LinkChange(preset: "3G")), as: UTF8.self) == #"{"preset":"3G"}"#)
    }

    @Test(arguments: [
        (400, #"{"error":"loss is odd"}"#, APIError.Code.badRequest, "loss is odd"),
        (400, "no", .badRequest, "the link conditioner answered with status 400 and no reason"),
        (500, "", .internal, "the link conditioner answered with status 500 and no reason"),
        (200, "{}", .internal, "the link conditioner's response is invalid: down is missing"),
    ])
    func whatIsNoStateIsAnError(status: Int, text: String, code: APIError.Code, message: String) async throws {
        let error = await #expect(throws: APIError.self) { try await client(status, text).change(LinkChange()) }
        #expect(error?.code == code && error?.message == message, "\(String(describing: error))")
    }

    @Test(arguments: ["", "/", "/_link", "/_link/"])
    func theURLMayOmitThePath(path: String) async throws {
        let url = "http://127.0.0.1:9"
        let client = try LinkClient(control: url + path) { call throws(APIError) in
            APIClient.Answer(status: call.url == url + "/_link" ? 200 : 404, body: Array(Self.answer.utf8))
        }
        #expect(try await client.state().traffic.bytesDown == 3)
    }

    @Test(arguments: ["http://example.com/_link", "https://127.0.0.1:9", "http://127.0.0.1:9/x", "127.0.0.1:9", ""])
    func otherURLsAreRefused(url: String) {
        let error = #expect(throws: APIError.self) {
            try LinkClient(control: url) { _ throws(APIError) in throw APIError(.internal, "asked") }
        }
        #expect(error?.code == .badRequest)
    }

    @Test func onlyAFileWithALoopbackURLIsAccepted() throws {
        let folder = try TemporaryFolder()
        let state = StateDirectory(folder.path)
        #expect(state.linkURL == nil)
        try folder.write(Data("http://example.com:1\n".utf8), to: "link")
        #expect(state.linkURL == nil)
        try folder.write(Data("http://127.0.0.1:1\n".utf8), to: "link")
        #expect(state.linkURL == "http://127.0.0.1:1")
    }
}
