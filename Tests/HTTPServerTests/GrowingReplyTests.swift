import EventLoop
import Foundation
import Glibc
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct GrowingReplyTests {
    static let content = ServerFixture.content(3_000_000)

    /// A server of one growing file, with or without a known `size`.
    static func fixture(size: Int64?, held: Held = Held()) async throws -> (ServerFixture, GrowingFile) {
        let folder = try TemporaryFolder()
        let file = try await GrowingFile(path: folder.path("growing"))
        let fixture = try await ServerFixture { exchange in
            withExtendedLifetime(folder) {}
            exchange.whenEnded { held.end = $0 }
            exchange.reply(Representation(size: size, mediaType: .mpegTS), .growing(file))
        }
        return (fixture, file)
    }

    @Test(arguments: [3_000_000, nil] as [Int64?])
    func bytesArriveAsTheyAreWrittenAndTheReplyEndsWithTheBody(size: Int64?) async throws {
        let (fixture, file) = try await Self.fixture(size: size)
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /") + fixture.request("GET /"))
        async let first = connection.reply()
        try await waitUntil("a reader") { await file.readerCount == 1 }
        for start in stride(from: 0, to: Self.content.count, by: 150_000) {
            await file.append(Self.content[start..<start + 150_000])
        }
        await file.finish(.complete)
        let reply = try await first
        #expect(reply.isWhole)
        #expect(reply.body == Self.content)
        #expect(reply.field("Transfer-Encoding") == (size == nil ? "chunked" : nil))
        // The second request finds all bytes, on the same connection.
        #expect(try await connection.reply().body == Self.content)
        #expect(await file.readerCount == 0)
    }

    @Test func theFirstBytesArriveBeforeTheLastAreWritten() async throws {
        let (fixture, file) = try await Self.fixture(size: 3_000_000)
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /"))
        let head = try await connection.receiveHead()
        #expect(String(decoding: head.bytes, as: UTF8.self).contains("Content-Length: 3000000\r\n"))
        for start in [0, 10, 70_000] {
            let end = start == 70_000 ? 500_000 : start == 10 ? 70_000 : 10
            await file.append(Self.content[start..<end])
            #expect(try await connection.receive(count: end - start).bytes == Data(Self.content[start..<end]))
        }
    }

    @Test func freshBytesAreSentBeforeTheyAreInTheFile() async throws {
        let (fixture, file) = try await Self.fixture(size: 3_000_000)
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /"))
        _ = try await connection.receiveHead()
        try await waitUntil("a reader") { await file.readerCount == 1 }
        await file.offer(Self.content[..<10_000], keep: false)
        #expect(try await connection.receive(count: 10_000).bytes == Data(Self.content[..<10_000]))
    }

    /// A slow reader gets the rest from the file, without duplicates.
    @Test(arguments: [3_000_000, nil] as [Int64?])
    func freshBytesThatDoNotFitTheSocketComeFromTheFile(size: Int64?) async throws {
        let (fixture, file) = try await Self.fixture(size: size)
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /"))
        try await waitUntil("a reader") { await file.readerCount == 1 }
        // More than any socket accepts at once while nothing reads.
        await file.offer(Self.content[..<2_900_000])
        await file.offer(Self.content[2_900_000...])
        await file.finish(.complete)
        #expect(try await connection.reply().body == Self.content)
    }

    @Test func aReaderThatStartsWithFreshBytesGetsThemWithItsHead() async throws {
        let folder = try TemporaryFolder()
        let file = try await GrowingFile(path: folder.path("growing"))
        let exchanges = Exchanges()
        let fixture = try await ServerFixture { exchanges.all.append($0) }
        let connections = try (0..<3).map { _ in try fixture.connect() }
        for (connection, field) in zip(connections, ["", "Range: bytes=100-199\r\n", "Range: bytes=2000-\r\n"]) {
            try await connection.send("GET / HTTP/1.1\r\nHost: localhost:\(fixture.port)\r\n\(field)\r\n")
        }
        try await waitUntil("the requests") { await exchanges.all.count == 3 }
        await exchanges.answer(with: file) { file.offer(Self.content[..<3_000]) }
        await file.finish(.complete)
        let bodies = try await [connections[0].reply().body, connections[1].reply().body, connections[2].reply().body]
        let expected = [Self.content[..<3_000], Self.content[100..<200], Self.content[2_000..<3_000]].map { Array($0) }
        #expect(bodies == expected)
    }

    /// Requests answered when there are fresh bytes, as at the beginning of a fetch.
    @LoopActor final class Exchanges {
        var all: [Exchange] = []

        func answer(with file: GrowingFile, _ offer: @LoopActor () -> Void) {
            file.subscribe(self) { [unowned self] in
                for exchange in all {
                    exchange.reply(Representation(size: 3_000, mediaType: .mpegTS), .growing(file))
                }
                all = []
            }
            offer()
            file.unsubscribe(self)
        }
    }

    @Test func aRangeOfAGrowingBodyWaitsForItsBytesOnly() async throws {
        let (fixture, file) = try await Self.fixture(size: 3_000_000)
        await file.append(Self.content[..<1_000])
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /", "Range: bytes=500-1499"))
        async let waiting = connection.reply()
        try await waitUntil("a reader") { await file.readerCount == 1 }
        await file.append(Self.content[1_000..<2_000])
        let reply = try await waiting
        #expect(reply.status == 206)
        #expect(reply.field("Content-Range") == "bytes 500-1499/3000000")
        #expect(reply.body == Array(Self.content[500..<1_500]))
        #expect(await file.readerCount == 0)
    }

    @Test func aRangeOfUnknownSizeGetsEverything() async throws {
        let (fixture, file) = try await Self.fixture(size: nil)
        await file.append(Self.content[..<1_000])
        await file.finish(.complete)
        let reply = try await fixture.ask("GET /", "Range: bytes=5-")
        #expect(reply.status == 200)
        #expect(reply.body == Array(Self.content[..<1_000]))
    }

    @Test(arguments: [3_000_000, nil] as [Int64?])
    func aFailedBodyCutsTheReplyShort(size: Int64?) async throws {
        let held = Held()
        let (fixture, file) = try await Self.fixture(size: size, held: held)
        let connection = try fixture.connect()
        try await connection.send(fixture.request("GET /"))
        async let waiting = connection.reply()
        try await waitUntil("a reader") { await file.readerCount == 1 }
        await file.append(Self.content[..<5_000])
        await file.finish(.failed)
        let reply = try await waiting
        #expect(!reply.isWhole)
        #expect(Self.content.starts(with: reply.body))
        #expect(await held.end?.cause == .bodyFailed)
        #expect(try await connection.isClosed())
    }

    @Test func aBodyShorterThanItsLengthFails() async throws {
        let (fixture, file) = try await Self.fixture(size: 3_000_000)
        await file.append(Self.content[..<5_000])
        await file.finish(.complete)
        #expect(try await !fixture.ask("GET /").isWhole)
    }

    @Test func anHTTP10ClientFindsTheEndByTheConnections() async throws {
        let (fixture, file) = try await Self.fixture(size: nil)
        await file.append(Self.content[..<5_000])
        await file.finish(.complete)
        let connection = try fixture.connect()
        try await connection.send("GET / HTTP/1.0\r\nHost: localhost:\(fixture.port)\r\nConnection: keep-alive\r\n\r\n")
        let reply = try await connection.reply()
        #expect(reply.field("Connection") == "close")
        #expect(reply.body == Array(Self.content[..<5_000]))
        #expect(reply.isWhole)
    }

    @Test func anHTTP10ClientIsResetWhenTheBodyFails() async throws {
        let (fixture, file) = try await Self.fixture(size: nil)
        await file.append(Self.content[..<5_000])
        let connection = try fixture.connect()
        try await connection.send("GET / HTTP/1.0\r\nHost: localhost:\(fixture.port)\r\n\r\n")
        _ = try await connection.receiveHead()
        _ = try await connection.receive(count: 5_000)
        await file.finish(.failed)
        #expect(try await connection.receive().end == .reset)
    }

    @Test func theFileMayChangeDuringAReply() async throws {
        let (fixture, file) = try await Self.fixture(size: 3_000_000)
        let connection = try fixture.connect(receiveBuffer: 4_096)
        try await connection.send(fixture.request("GET /"))
        try await waitUntil("a reader") { await file.readerCount == 1 }
        await file.append(Self.content[..<2_900_000])
        try await file.move(to: fixture.folder.path("elsewhere"))
        await file.append(Self.content[2_900_000...])
        await file.finish(.complete)
        #expect(try await connection.reply().body == Self.content)
    }

    @Test func aClientThatLeavesEndsItsSubscription() async throws {
        let held = Held()
        let (fixture, file) = try await Self.fixture(size: 3_000_000, held: held)
        var connection: RawConnection? = try fixture.connect()
        try await connection?.send(fixture.request("GET /"))
        try await waitUntil("a reader") { await file.readerCount == 1 }
        connection = nil
        try await waitUntil("the end") { await held.end != nil }
        #expect(await held.end?.cause == .clientLeft)
        #expect(await file.readerCount == 0)
    }

    @Test func readersAtDifferentPacesGetTheSame() async throws {
        let (fixture, file) = try await Self.fixture(size: 3_000_000)
        let slow = try fixture.connect(receiveBuffer: 4_096)
        try await slow.send(fixture.request("GET /"))
        try await waitUntil("a reader") { await file.readerCount == 1 }
        await file.append(Self.content[..<2_000_000])
        async let fast = fixture.ask("GET /")
        try await waitUntil("two readers") { await file.readerCount == 2 }
        await file.append(Self.content[2_000_000...])
        await file.finish(.complete)
        #expect(try await fast.body == Self.content)
        #expect(try await slow.reply().body == Self.content)
    }

    @Test(.disabled(if: isSanitized, "a sanitizer's own memory would be counted")) func slowReadersUseNoMemory() async {
        // Runs in a separate process, whose memory is that of this test only.
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let file = try await GrowingFile(path: folder.path("growing"))
            let fixture = try await ServerFixture { exchange in
                exchange.reply(Representation(size: 100 << 20, mediaType: .mpegTS), .growing(file))
            }
            let block = ServerFixture.content(1 << 20)
            await file.append(block)
            var clients: [RawConnection] = []
            let before = try residentBytes()
            for _ in 0..<50 {
                let client = try fixture.connect()
                try await client.send(fixture.request("GET /"))
                clients.append(client)
            }
            try await waitUntil("all readers") { await file.readerCount == 50 }
            for _ in 1..<100 {
                await file.append(block)
            }
            await file.finish(.complete)
            let grown = try residentBytes() - before
            withExtendedLifetime(clients) {}
            if grown >= 50 * 32 * 1024 {
                throw TimedOut("less than 32 KiB for each reader but \(grown) bytes")
            }
        }
    }
}

/// True under AddressSanitizer or ThreadSanitizer.
private let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

/// The resident memory of this process in bytes, without file pages: code that runs for the first time would count.
private func residentBytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    let line = try #require(status.first { $0.hasPrefix("RssAnon:") })
    return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) * 1024
}
