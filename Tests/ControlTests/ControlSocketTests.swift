import EventLoop
import HTTPServer
import TestSupport
import Testing
import WeirAPI

@testable import Control

/// Tests the client and the routes over a socket.
@Suite struct ControlSocketTests {
    private let folder: TemporaryFolder
    private let claim: StateClaim
    private let client: APIClient

    init() throws {
        folder = try TemporaryFolder()
        claim = try StateDirectory(folder.path).claim()
        client = APIClient(state: claim.directory)
    }

    private func serving(_ test: (UInt16) async throws -> Void) async throws {
        let token = claim.token
        let (server, port) = try await Self.start(token: token)
        try claim.publish(url: "http://127.0.0.1:\(port)")
        try await test(port)
        await server.stop(within: .seconds(2))
    }

    @LoopActor private static func start(token: String) throws -> (WebServer, UInt16) {
        let routes = ControlRoutes(ScriptedService().handlers, token: token)
        let server = WebServer { _ = routes.handle($0) }
        return (server, try server.listen(host: "127.0.0.1", port: 0))
    }

    @Test func everyCallReachesItsRoute() async throws {
        try await serving { (_: UInt16) async throws in
            let url = "https://h/m?a=1&b=%20"
            #expect(try await client.assets().map(\.name) == ["sintel"])
            #expect(try await client.call(Endpoints.asset, "a b/c").name == "a b/c")
            #expect(try await client.call(Endpoints.removeAsset, "sintel").bytes == 5)
            #expect(try await client.call(Endpoints.presentation, query: API.query("url", url)).url == url)
            #expect(try await client.call(Endpoints.addDownload, body: .init(source: "https://h/m")).id == "d1")
            #expect(try await client.call(Endpoints.download, "d1").asset == "sintel")
        }
    }

    @Test func aProblemComesBackAsTheErrorThatItWas() async throws {
        try await serving { (_: UInt16) async throws in
            let error = await #expect(throws: APIError.self) { try await client.call(Endpoints.asset, "none") }
            #expect(error?.code == .noSuchAsset)
            #expect(error?.next == "weir list")
        }
    }

    @Test func responsesHaveATypeAndAreNotCached() async throws {
        try await serving { (port: UInt16) async throws in
            let path = "http://127.0.0.1:\(port)/api/v1/downloads"
            let bare = try await HTTPProbe.fetch(path)
            #expect(bare.status == 401)
            #expect(bare["www-authenticate"] == "Bearer")
            #expect(bare["content-type"] == "application/problem+json")
            let refused = try await HTTPProbe.fetch(
                path, method: "PUT", fields: ["Authorization": "Bearer \(claim.token)"])
            #expect(refused.status == 405)
            #expect(refused["allow"] == "GET, HEAD, POST")
            #expect(refused["cache-control"] == "no-store")
        }
    }

    @Test func aClosedPortMeansNoDaemon() async throws {
        try await serving { _ in }
        let error = await #expect(throws: APIError.self) { try await client.assets() }
        #expect(error?.code == .noDaemon)
        #expect(error?.message.hasPrefix("no daemon answers at http://127.0.0.1:") == true)
    }
}
