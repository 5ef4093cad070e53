import EventLoop
import HTTPMessage
import Orders
import Origin
import TestSupport
import Testing

@testable import Control
@testable import WeirAPI

/// Tests the client against the routes without a socket.
@Suite struct APIClientTests {
    private let folder: TemporaryFolder
    private let claim: StateClaim

    init() throws {
        folder = try TemporaryFolder()
        claim = try StateDirectory(folder.path).claim()
        try claim.publish(url: "http://127.0.0.1:8216")
    }

    private func client() async -> APIClient {
        let routes = await ControlRoutes(ScriptedService().handlers, token: claim.token)
        return APIClient(state: claim.directory) { call throws(APIError) in
            guard let method = HTTPMethod(rawValue: call.method), call.url.hasPrefix("http://127.0.0.1:8216/") else {
                throw APIError(.noDaemon, "not the daemon")
            }
            let target = call.url.dropFirst("http://127.0.0.1:8216".count).split(separator: "?", maxSplits: 1)
            let request = ControlRequest(
                method, String(target[0]), query: target.count > 1 ? String(target[1]) : nil,
                authorization: "Bearer \(call.token)", contentType: call.body == nil ? nil : "application/json",
                body: call.body ?? [])
            let response = await routes.respond(to: request)
            return APIClient.Answer(status: response.status.code, body: response.body)
        }
    }

    private func answering(_ status: Int, _ text: String) -> APIClient {
        APIClient(state: claim.directory) { _ throws(APIError) in
            APIClient.Answer(status: status, body: Array(text.utf8))
        }
    }

    /// An import or an export may take an hour.
    @Test @LoopActor func aCallWhoseDurationCannotBeKnownHasNoLimit() async throws {
        let origin = try await TestOrigin()
        try await origin.add(OriginRule("/ts/*") { $0.delay = 1 })
        let transport = OriginTransport(to: "daemon")
        var configuration = OriginClient.Configuration()
        configuration.giveUpRule.playlistDeadline = .milliseconds(100)
        transport.client = OriginClient(configuration: configuration)
        var call = APIClient.Call(method: "GET", url: origin.url("/ts/master.m3u8"), token: "", body: nil)
        call.isLong = true
        #expect(try await transport.perform(call).status == 200)
        call.isLong = false
        call.limit = .milliseconds(100)
        let error = await #expect(throws: APIError.self) { try await transport.perform(call) }
        #expect(error?.code == .timeout)
    }

    @Test(
        "Combining marks behind a separator make no other character of it",
        arguments: [
            ("/api/v1/assets/\u{30D}film", "limit=5", ["assets", "\u{30D}film"]),
            ("/api/v1/assets", "limit=5&\u{30D}=1", ["assets"]),
        ])
    func separatorsAreBytes(path: String, query: String, components: [String]) throws {
        #expect(EndpointLine.components(of: path) == components)
        let read = try? ControlQuery(query, knowing: ["limit", "\u{30D}"])
        #expect(read?["limit"] == "5")
    }

    @Test func everyCallFindsItsRoute() async throws {
        let client = await client()
        let url = "https://h/m?a=1&b=%20"
        #expect(try await client.assets().map(\.name) == ["sintel"])
        #expect(try await client.call(Endpoints.asset, "a b/c").name == "a b/c")
        #expect(try await client.call(Endpoints.removeAsset, "sintel").bytes == 5)
        #expect(try await client.call(Endpoints.presentation, query: API.query("url", url)).url == url)
        #expect(try await client.call(Endpoints.addDownload, body: .init(source: "sintel")).id == "d1")
        #expect(try await client.call(Endpoints.download, "d1").asset == "sintel")
        #expect(try await client.call(Endpoints.downloads).downloads.map(\.id) == ["d1"])
        let pause = Endpoints.changeDownload(.pause)
        #expect(try await client.call(pause, "d1", body: .init()).state == .paused)
        let resume = Endpoints.changeDownload(.resume)
        #expect(try await client.call(resume, "d1", body: .init(url: "https://h/new?a=1")).state == .queued)
    }

    @Test func aLongListIsReadPageByPage() async throws {
        let names = (0..<7).map { "film-\($0)" }
        let client = APIClient(state: claim.directory) { call throws(APIError) in
            let query = String(call.url.split(separator: "?", maxSplits: 1)[1])
            let after = try API.AssetQuery(ControlQuery(query, knowing: API.AssetQuery.keys)).after ?? ""
            guard after != "film-5" || query.contains("brief=1") else { throw APIError(.disk, "no more") }
            let page = names.filter { $0 > after }.prefix(2)
            let list = API.AssetList(
                assets: page.map { API.Asset(name: $0, id: $0, url: "https://h/m") },
                next: page.last == names.last ? nil : page.last)
            return APIClient.Answer(status: 200, body: try API.encode(list))
        }
        #expect(try await client.assets(isBrief: true).map(\.name) == names)
        let error = await #expect(throws: APIError.self) { try await client.assets() }
        #expect(error?.code == .disk)
    }

    @Test func aProblemComesBackAsTheErrorThatItWas() async throws {
        let client = await client()
        let error = await #expect(throws: APIError.self) { try await client.call(Endpoints.asset, "none") }
        #expect(error?.code == .noSuchAsset)
        #expect(error?.message == "no asset is called none")
        #expect(error?.next == "weir list")
        #expect(error?.code.exitCode == 66)
    }

    @Test func anInvalidResponseIsAnInternalError() async throws {
        for (status, text) in [(200, "<html>"), (200, "{}"), (500, "oops"), (302, ""), (404, #"{"code":"new-code"}"#)] {
            let error = await #expect(throws: APIError.self) { try await answering(status, text).assets() }
            #expect(error?.code == .internal)
        }
    }

    @Test func withoutADaemonFileThereIsNoDaemon() async throws {
        claim.withdraw()
        let error = await #expect(throws: APIError.self) { try await answering(200, "").assets() }
        #expect(error?.code == .noDaemon)
        #expect(error?.code.exitCode == 69)
    }

    @Test func errorsForUsersHaveANextStep() {
        let silent = Set(APIError.Code.allCases.filter { APIError($0, "x").next == nil })
        // Requests that only a program makes, errors whose next step comes from the thrower or the command, and
        // defects.
        #expect(
            silent == [
                .badRequest, .unauthorized, .noSuchRoute, .methodNotAllowed, .unsupportedMediaType, .live,
                .protected, .noDaemon, .internal, .notForPhones,
            ])
        #expect(APIError(.disk, "x", next: "y").next == "y")
    }

    /// Scripts depend on the exit code of every error.
    @Test func everyErrorCodeHasAnExitCodeAndAMatchingStatus() {
        let exits: Set<Int32> = [1, 3, 64, 65, 66, 69, 73, 74, 75, 76, 77, 78]
        for code in APIError.Code.allCases {
            #expect(exits.contains(code.exitCode))
            #expect((400..<600).contains(code.status))
        }
        #expect(APIError.Code.live.exitCode == 65)
        #expect(APIError.Code.diskFull.exitCode == 74)
        #expect(APIError.Code.originAbsent.exitCode == 75)
        #expect(APIError.Code.notPlaylist.exitCode == 76)
        #expect(APIError.Code.unauthorized.exitCode == 77)
        #expect(APIError.Code.protected.exitCode == 65)
        #expect(APIError.Code.unreadable.exitCode == 78)
    }
}
