import EventLoop
import Foundation
import Glibc
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

/// Clients that stop reading in the middle of a reply. The server's clock is driven by hand.
@Suite struct PauseTests {
    enum Pause: Int, CaseIterable {
        case minute = 61
        case tenMinutes = 600
        case night = 36_000

        var time: Duration { .seconds(rawValue) }
    }

    enum Body: CaseIterable {
        case stored, parts, memory, rendered
        /// Grows on while the client is paused, and ends when it has read on.
        case growing
        /// Ends while the client is paused.
        case grown
        /// As `grown`, with chunks: the length was not known.
        case grownInChunks
    }

    /// More than the buffers of both sockets take.
    private static let content = ServerFixture.content(24 << 20)
    private static let begun = 12 << 20

    /// A server that answers with one body.
    private struct Scene {
        let fixture: ServerFixture
        let held = Held()
        let growing: GrowingFile

        init(
            _ body: Body, allowsPauses: Bool = false,
            with configure: (inout WebServer.Configuration) -> Void = { _ in }
        ) async throws {
            let folder = try TemporaryFolder()
            let path = folder.path("body")
            try Data(content).write(to: URL(filePath: path))
            let growing = try await GrowingFile(path: folder.path("growing"))
            await growing.append(content[..<begun])
            self.growing = growing
            fixture = try await ServerFixture(with: configure) { [held] exchange in
                withExtendedLifetime(folder) {}
                if allowsPauses {
                    exchange.allowPauses()
                }
                exchange.whenEnded { held.end = $0 }
                var representation = Representation(size: Int64(content.count), mediaType: .mpegTS)
                if body == .grownInChunks {
                    representation.size = nil
                }
                let file = OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC))
                let half = Int64(content.count / 2)
                switch body {
                case .stored: exchange.reply(representation, .file(file))
                case .parts:
                    let parts: [ReplyPart] = [.bytes(Array(content[..<1000])), .file(1000..<half)]
                    exchange.reply(representation, .parts(file, parts + [.file(half..<Int64(content.count))]))
                case .memory: exchange.reply(representation, .bytes(content))
                case .rendered: exchange.reply(representation, .rendered(Slices()))
                case .growing, .grown, .grownInChunks: exchange.reply(representation, .growing(growing))
                }
            }
        }

        /// Asks for the body, and reads nothing of it. Returns once the client holds the server up.
        func pausedReader(_ path: String = "/") async throws -> RawConnection {
            let before = await fixture.unread.count
            let connection = try fixture.connect(receiveBuffer: 4096)
            try await connection.send(fixture.request("GET \(path)"))
            try await waitUntil("a reader that is behind") { await fixture.unread.count == before + 1 }
            return connection
        }

        func finish() async {
            await growing.append(content[begun...])
            await growing.finish(.complete)
        }
    }

    private final class Slices: RenderedBody {
        var count: Int { content.count }

        func bytes(in range: Range<Int>) -> [UInt8] { Array(content[range]) }
    }

    @Test(arguments: Body.allCases, Pause.allCases)
    func aReaderOfTheOwnerLosesNothing(body: Body, pause: Pause) async throws {
        let scene = try await Scene(body)
        let connection = try await scene.pausedReader()
        await scene.fixture.pass(pause.time / 2)
        if body == .grown || body == .grownInChunks {
            await scene.finish()
        }
        await scene.fixture.pass(pause.time / 2)
        #expect(await scene.held.end == nil)
        async let reply = connection.reply()
        if body == .growing {
            await scene.finish()
        }
        let found = try await reply
        #expect(found.isExactly(Self.content))
        try await waitUntil("the end") { await scene.held.end != nil }
        #expect(await scene.held.end?.cause == .complete)
        #expect(await scene.held.end?.bodyBytes == Int64(Self.content.count))
    }

    @Test(arguments: Body.allCases) func aReaderOfAnotherUserHasAMinute(body: Body) async throws {
        let scene = try await Scene(body, with: { $0.owners = nil })
        let connection = try await scene.pausedReader()
        await scene.fixture.pass(.seconds(50))
        #expect(await scene.held.end == nil)
        await scene.fixture.pass(.seconds(12))
        #expect(await scene.held.end?.cause == .clientStalled)
        withExtendedLifetime(connection) {}
    }

    @Test func aSecretOfTheOwnersMakesAReaderTheOwners() async throws {
        let scene = try await Scene(.stored, allowsPauses: true, with: { $0.owners = nil })
        let connection = try await scene.pausedReader()
        await scene.fixture.pass(Pause.night.time)
        #expect(try await connection.reply().isExactly(Self.content))
    }

    /// The next request on the connection may be another one's, as behind a proxy.
    @Test func theSecretCountsForItsRequestOnly() async throws {
        let held = Held()
        let fixture = try await ServerFixture(with: { $0.owners = nil }) { exchange in
            guard exchange.head.target == "/long" else {
                exchange.allowPauses()
                return exchange.reply(.ok, "short")
            }
            exchange.whenEnded { held.end = $0 }
            exchange.reply(ResponseHead(.ok), .bytes(Self.content))
        }
        let connection = try fixture.connect(receiveBuffer: 4096)
        try await connection.send(fixture.request("GET /short"))
        #expect(try await connection.reply().status == 200)
        try await connection.send(fixture.request("GET /long"))
        try await waitUntil("a reader that is behind") { await fixture.unread.count == 1 }
        await fixture.pass(Pause.minute.time)
        #expect(await held.end?.cause == .clientStalled)
    }

    /// A client that is paused does not keep the source of the bytes, such as a transfer from an origin.
    @Test(arguments: [Body.grown, .grownInChunks]) func aPausedReaderHoldsAFileAndNoSource(body: Body) async throws {
        let scene = try await Scene(body)
        let connection = try await scene.pausedReader()
        #expect(await scene.growing.readerCount == 1)
        await scene.finish()
        #expect(await scene.growing.readerCount == 0)
        #expect(try await connection.reply().isExactly(Self.content))
    }

    // MARK: Pressure

    /// Two ticks make a reader silent. The first one reads a little meanwhile.
    private static func silence(_ scene: Scene, but reader: RawConnection) async throws {
        await scene.fixture.pass(.seconds(2))
        let before = await scene.fixture.unread
        #expect(try await reader.receive(count: 8 << 20).bytes.count == 8 << 20)
        try await waitUntil("a reader that has read") { await scene.fixture.unread != before }
        await scene.fixture.pass(.seconds(1))
    }

    @Test func theLongestSilentReaderGivesWayToANewConnection() async throws {
        let scene = try await Scene(.stored, with: { $0.connections = 3 })
        var readers: [RawConnection] = []
        for _ in 0..<3 {
            readers.append(try await scene.pausedReader())
        }
        try await Self.silence(scene, but: readers[0])
        let fresh = try scene.fixture.connect()
        try await fresh.send(scene.fixture.request("HEAD /"))
        #expect(try await fresh.reply(hasBody: false).status == 200)
        // The second one has been silent for the longest time. The others lose nothing.
        #expect(try await readers[1].reply().isWhole == false)
        #expect(try await readers[2].reply().isExactly(Self.content))
        let rest = try await readers[0].receive(count: Self.content.count - (8 << 20))
        #expect(rest.end == .satisfied)
    }

    @Test func theLongestSilentReaderGivesWayWhenDescriptorsAreShort() async throws {
        let scene = try await Scene(.stored)
        var readers: [RawConnection] = []
        for _ in 0..<2 {
            readers.append(try await scene.pausedReader())
        }
        let idle = try scene.fixture.connect()
        try await waitUntil("all of them") { await scene.fixture.pool.connections.count == 3 }
        try await Self.silence(scene, but: readers[0])
        // An idle connection first: nothing is lost by that.
        await scene.fixture.server.acceptFailed(errno: EMFILE)
        #expect(try await idle.isClosed())
        #expect(await scene.fixture.pool.connections.count == 2)
        await scene.fixture.server.acceptFailed(errno: EMFILE)
        #expect(await scene.fixture.pool.connections.count == 1)
        #expect(try await readers[1].reply().isWhole == false)
        #expect(try await readers[0].receive(count: Self.content.count - (8 << 20)).end == .satisfied)
    }

    @Test func theLongestSilentReaderOfAPeerGivesWayToItsNextConnection() async throws {
        let scene = try await Scene(
            .stored, allowsPauses: true,
            with: {
                $0.owners = nil
                $0.limitsLoopback = true
                $0.connectionsPerPeer = 2
            })
        let readers = [try await scene.pausedReader(), try await scene.pausedReader()]
        // Those that have just begun to read do not give way.
        let refused = try scene.fixture.connect()
        #expect(try await refused.reply().status == 503)
        await scene.fixture.pass(Pause.night.time)
        let admitted = try scene.fixture.connect()
        try await admitted.send(scene.fixture.request("HEAD /"))
        #expect(try await admitted.reply(hasBody: false).status == 200)
        #expect(try await readers[0].reply().isWhole == false)
        #expect(try await readers[1].reply().isExactly(Self.content))
    }

    // MARK: Files and descriptors

    @Test func aReaderThatIsSilentForLongDoesNotCount() async throws {
        let scene = try await Scene(.stored)
        let pool = scene.fixture.pool
        let connection = try await scene.pausedReader()
        let limit = Duration.seconds(12 * 3600)
        await scene.fixture.pass(limit - .seconds(60))
        #expect(await pool.count(withoutSilentFor: limit) == 1)
        await scene.fixture.pass(.seconds(120))
        #expect(await pool.count(withoutSilentFor: limit) == 0)
        #expect(await pool.connections.count == 1)
        // It still gets its bytes, and counts again.
        #expect(try await connection.reply().isExactly(Self.content))
        await scene.fixture.pass(.seconds(1))
        #expect(await pool.count(withoutSilentFor: limit) == 1)
    }

    @Test(arguments: [Body.stored, .parts, .grown]) func theFileOfAPausedReaderIsKnown(body: Body) async throws {
        let scene = try await Scene(body)
        let connections = [try await scene.pausedReader(), try await scene.pausedReader()]
        if body == .grown {
            await scene.finish()
        }
        let files = await scene.fixture.pool.unreadFiles
        #expect(files.count == 1)
        let file = try #require(files.first)
        #expect(!file.isDeleted && file.bytes >= Self.content.count)
        #expect(unlink(file.path) == 0)
        #expect(await scene.fixture.pool.unreadFiles.map(\.isDeleted) == [true])
        for connection in connections {
            #expect(try await connection.reply().isExactly(Self.content))
        }
        try await waitUntil("the end") { await scene.fixture.pool.unreadFiles.isEmpty }
    }
}

extension ServerFixture {
    /// The numbers of bytes that wait for clients that are behind.
    @LoopActor fileprivate var unread: [Int64] {
        pool.connections.filter { $0.holding.use == .sending }.map(\.sentBytes)
    }
}
