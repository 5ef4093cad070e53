import EventLoop
import Foundation
import Glibc
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct FileReplyTests {
    /// A server of one file with validators, of a size below or above the sendfile threshold.
    static func fixture(_ content: [UInt8], held: Held = Held()) async throws -> ServerFixture {
        let folder = try TemporaryFolder()
        let path = folder.path("file.ts")
        try Data(content).write(to: URL(filePath: path))
        return try await ServerFixture { exchange in
            exchange.whenEnded { held.end = $0 }
            withExtendedLifetime(folder) {}
            var representation = Representation(size: Int64(content.count), mediaType: .mpegTS)
            representation.entityTag = EntityTag("v1")
            representation.lastModified = HTTPDate(secondsSinceEpoch: 784_111_777)
            representation.fields.append(.cacheControl, literal: "no-cache")
            exchange.reply(representation, .file(OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC))))
        }
    }

    @Test(arguments: [1, 1_000, 16 * 1024, 16 * 1024 + 1, 200_000, 9_000_000])
    func aFileArrivesWhole(size: Int) async throws {
        let content = ServerFixture.content(size)
        let held = Held()
        let fixture = try await Self.fixture(content, held: held)
        let before = openDescriptors()
        let reply = try await fixture.ask("GET /file.ts")
        #expect(reply.status == 200)
        #expect(reply.body == content)
        #expect(reply.field("Content-Type") == "video/mp2t")
        #expect(reply.field("ETag") == "\"v1\"")
        #expect(reply.field("Accept-Ranges") == "bytes")
        try await waitUntil("the end") { await held.end != nil }
        #expect(await held.end == ReplyEnd(cause: .complete, status: 200, bodyBytes: Int64(size)))
        try await waitUntil("the file closed") { openDescriptors().subtracting(before).isEmpty }
    }

    private func openDescriptors() -> Set<String> {
        Set(
            (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.compactMap { name in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
                return target.flatMap { $0.hasSuffix("file.ts") ? $0 : nil }
            } ?? [])
    }

    @Test(
        arguments: [
            ("bytes=0-", 206, 0..<100_000), ("bytes=0-0", 206, 0..<1), ("bytes=99999-", 206, 99_999..<100_000),
            ("bytes=-10", 206, 99_990..<100_000), ("bytes=500-60499", 206, 500..<60_500),
            ("bytes=0-1,3-4", 200, 0..<100_000), ("bytes=x", 200, 0..<100_000),
        ] as [(String, Int, Range<Int>)])
    func aRangeOfAFileArrives(range: String, status: Int, bytes: Range<Int>) async throws {
        let content = ServerFixture.content(100_000)
        let reply = try await Self.fixture(content).ask("GET /file.ts", "Range: \(range)")
        #expect(reply.status == status)
        #expect(reply.body == Array(content[bytes]))
        let contentRange = status == 206 ? "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/100000" : nil
        #expect(reply.field("Content-Range") == contentRange)
    }

    @Test(
        "An odd range gives the whole, one part of it, or a refusal",
        arguments: [
            "bytes=0-0,1-1,2-2", "bytes=" + (0..<2_000).map { "\($0)-\($0)" }.joined(separator: ","), "bytes=-0",
            "bytes=--1",
            "bytes=1-0", "bytes=99999999999999999999-", "bytes=0-99999999999999999999", "bytes=-99999999999999999999",
            "bytes", "bytes=", "items=0-1", "bytes=0-0" + String(repeating: ",", count: 4_000), "bytes= 0 - 1",
            "bytes=0x1-2", "bytes=9223372036854775807-9223372036854775807",
        ])
    func oddRange(range: String) async throws {
        let content = ServerFixture.content(1_000)
        let reply = try await Self.fixture(content).ask("GET /file.ts", "Range: \(range)")
        #expect([200, 206, 416, 431].contains(reply.status))
        if reply.status == 200 {
            #expect(reply.isExactly(content))
        } else if reply.status == 206 {
            #expect(reply.isWhole && !reply.body.isEmpty && reply.body.count <= content.count)
        }
    }

    @Test func aRangeBeyondTheEndIsRefusedWithTheSize() async throws {
        let reply = try await Self.fixture(ServerFixture.content(10)).ask("GET /file.ts", "Range: bytes=10-")
        #expect(reply.status == 416)
        #expect(reply.field("Content-Range") == "bytes */10")
    }

    @Test func aClientWithACurrentCopyGets304() async throws {
        let reply = try await Self.fixture(ServerFixture.content(10)).ask("GET /file.ts", "If-None-Match: \"v1\"")
        #expect(reply.status == 304)
        #expect(reply.field("ETag") == "\"v1\"")
        #expect(reply.field("Cache-Control") == "no-cache")
        #expect(reply.field("Content-Length") == nil)
    }

    @Test func aHeadRequestForAFileClosesIt() async throws {
        let reply = try await Self.fixture(ServerFixture.content(50_000)).ask("HEAD /file.ts", "Range: bytes=0-1")
        #expect(reply.status == 200)
        #expect(reply.field("Content-Length") == "50000")
    }

    @Test(arguments: [(100, 500), (100_000, 200)])
    func aFileShorterThanAnnouncedIsNeverSentAsComplete(size: Int, status: Int) async throws {
        let held = Held()
        let folder = try TemporaryFolder()
        try Data(ServerFixture.content(size)).write(to: URL(filePath: folder.path("file")))
        let path = folder.path("file")
        let fixture = try await ServerFixture { exchange in
            exchange.whenEnded { held.end = $0 }
            let file = OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC))
            exchange.reply(ResponseHead(.ok), .file(file, offset: 0, length: Int64(size) * 2))
        }
        let reply = try await fixture.ask("GET /")
        #expect(reply.status == status)
        #expect(reply.isWhole == (status == 500))
        try await waitUntil("the end") { await held.end != nil }
        #expect(await held.end?.cause == (status == 500 ? .complete : .bodyFailed))
    }

    @Test func aLargeArrayArrivesWhole() async throws {
        let content = ServerFixture.content(7_000_000)
        let fixture = try await ServerFixture { exchange in
            exchange.reply(Representation(size: Int64(content.count), mediaType: .octetStream), .bytes(content))
        }
        #expect(try await fixture.ask("GET /").body == content)
        #expect(try await fixture.ask("GET /", "Range: bytes=5-6000004").body == Array(content[5..<6_000_005]))
    }

    @Test func aClientThatLeavesDuringAFileIsNoticed() async throws {
        let held = Held()
        let fixture = try await Self.fixture(ServerFixture.content(9_000_000), held: held)
        var connection: RawConnection? = try fixture.connect(receiveBuffer: 4_096)
        try await connection?.send(fixture.request("GET /file.ts"))
        _ = try await connection?.receiveHead()
        connection = nil
        try await waitUntil("the end") { await held.end != nil }
        #expect(await held.end?.cause == .clientLeft)
        #expect(try #require(await held.end?.bodyBytes) < 9_000_000)
    }
}
