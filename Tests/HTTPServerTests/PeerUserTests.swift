import EventLoop
import Glibc
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

/// Refuses other users everywhere but at /open, unless they know the secret.
private struct UserPolicy: RequestPolicy {
    func admitsLongBody(_ head: RequestHead) -> Bool { false }

    func refusal(
        of head: RequestHead, _ status: HTTPStatus, _ sentence: String
    ) -> (fields: ResponseHead, body: [UInt8])? { nil }

    func verdict(onOtherUsers head: RequestHead) -> OtherUserVerdict {
        if head[.authorization] == "secret" {
            return .admittedAsOwner
        }
        return head.path == "/open" ? .admitted : .refused(head: ResponseHead(.forbidden), body: Array("Not you.".utf8))
    }
}

/// The users of connections to a server.
@Suite struct PeerUserTests {
    private func fixture(with configure: (inout WebServer.Configuration) -> Void = { _ in }) async throws
        -> ServerFixture
    {
        try await ServerFixture(with: configure, policy: UserPolicy()) {
            $0.reply(.ok, "owner \($0.isFromOwner), other \($0.isFromOtherUser)")
        }
    }

    @Test(arguments: [
        (PeerUser.known(0), Ownership.owner), (.known(geteuid()), .owner), (.known(7), .owner), (.known(8), .other),
        (.known(65_534), .other), (.gone, .other), (.unknown, .unknown),
    ])
    private func usersAreJudgedByTheRule(_ user: PeerUser, _ ownership: Ownership) {
        #expect(Ownership(of: user, by: OwnerRule(users: [7])) == ownership)
        #expect(Ownership(of: user, by: nil) == .unknown)
    }

    @Test func theOwnUserIsAdmitted() async throws {
        let fixture = try await fixture()
        #expect(try await fixture.ask("GET /").text == "owner true, other false\n")
        let apart = try await self.fixture { $0.owners = nil }
        #expect(try await apart.ask("GET /").text == "owner false, other false\n")
    }

    @Test(.enabled(if: OtherUser.exists)) func anotherUserIsRefusedUnlessAdmitted() async throws {
        let fixture = try await fixture()
        let base = "http://127.0.0.1:\(fixture.port)"
        for method in ["GET", "POST", "OPTIONS"] {
            #expect(try await OtherUser.fetch(base + "/", method: method) == (403, "Not you."))
        }
        let secret = try await OtherUser.fetch(base + "/", fields: ["Authorization: secret"])
        #expect(secret == (200, "owner false, other false\n"))
        #expect(try await OtherUser.fetch(base + "/open") == (200, "owner false, other true\n"))
        let listed = try await self.fixture { $0.owners = OwnerRule(users: [OtherUser.number]) }
        let answer = try await OtherUser.fetch("http://127.0.0.1:\(listed.port)/")
        #expect(answer == (200, "owner true, other false\n"))
    }

    /// The kernel has no user for the socket of a process that has closed it, and would report root's.
    @Test func aClientThatHasClosedIsAnotherUser() async throws {
        let (seen, server, port) = try await Self.serverWithClosedClient()
        try await waitUntil("the request") { await seen.users.count == 1 }
        #expect(await seen.users == [true], "\(port)")
        await server.stop(within: .zero)
    }

    @LoopActor private final class Seen {
        var users: [Bool] = []
    }

    /// Connects, sends and closes while the loop is held, so that the server accepts a closed connection.
    @LoopActor private static func serverWithClosedClient() throws -> (Seen, WebServer, Int) {
        let seen = Seen()
        let server = WebServer(policy: UserPolicy()) {
            seen.users.append($0.isFromOtherUser)
            $0.reply(.ok, "")
        }
        let port = Int(try server.listen(host: "127.0.0.1", port: 0))
        let connection = try RawConnection(port: port)
        let bytes = Array("GET /open HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n".utf8)
        #expect(send(connection.descriptor, bytes, bytes.count, 0) == bytes.count)
        return (seen, server, port)
    }

    @Test(arguments: [("::1", "::1"), ("127.0.0.1", "::ffff:127.0.0.1")])
    func everyFormOfAnAddressIsRecognised(listening: String, connecting: String) async throws {
        let (server, port) = try await Self.server(at: listening)
        let script = """
            import socket, sys
            peer = socket.socket(socket.AF_INET6)
            peer.connect((sys.argv[1], int(sys.argv[2])))
            peer.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost:%s\\r\\nConnection: close\\r\\n\\r\\n" % sys.argv[2].encode())
            print(peer.makefile().read())
            """
        let own = try await ProcessRunner.run("python3", ["-I", "-c", script, connecting, "\(port)"])
        #expect(own.output.contains("owner true, other false"), "\(own)")
        if OtherUser.exists {
            let line = OtherUser.wrapper + ["python3", "-I", "-c", script, connecting, "\(port)"]
            let other = try await ProcessRunner.run(line[0], Array(line.dropFirst()))
            #expect(other.output.contains(" 403 ") && other.output.contains("Not you."), "\(other)")
        }
        await server.stop(within: .zero)
    }

    @LoopActor private static func server(at host: String) throws -> (WebServer, UInt16) {
        let server = WebServer(policy: UserPolicy()) {
            $0.reply(.ok, "owner \($0.isFromOwner), other \($0.isFromOtherUser)")
        }
        return (server, try server.listen(host: host, port: 0))
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.9.8.7", true), ("::1", true), ("::ffff:127.0.0.2", true), ("::ffff:10.0.0.1", false),
        ("10.0.0.1", false), ("::", false), ("fe80::1", false), ("0.0.0.0", false),
    ])
    func loopbackAddressesAreRecognised(literal: String, isLoopback: Bool) throws {
        #expect(try #require(SocketAddress(literal: literal, port: 1)).isLoopback == isLoopback)
    }
}
