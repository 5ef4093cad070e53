import EventLoop
import Foundation
import Glibc
import HTTPMessage
import TestSupport
import Testing

@testable import HTTPServer

@Suite struct PartsReplyTests {
    /// The body: ranges of a file of `size` bytes, and memory between them.
    struct Recipe: CustomTestStringConvertible, Sendable {
        let size: Int
        let parts: [ReplyPart]
        var testDescription: String { "\(size): \(parts.map(\.count))" }

        var whole: [UInt8] {
            let content = ServerFixture.content(size)
            return parts.flatMap { part -> [UInt8] in
                switch part {
                case .bytes(let bytes): bytes
                case .file(let range): Array(content[Int(range.lowerBound)..<Int(range.upperBound)])
                }
            }
        }
    }

    private static func memory(_ count: Int) -> ReplyPart { .bytes((0..<count).map { UInt8(truncatingIfNeeded: ~$0) }) }

    static let recipes = [
        Recipe(size: 1000, parts: [memory(100), .file(0..<500), memory(3), .file(600..<1000)]),
        Recipe(size: 100_000, parts: [memory(900), .file(20..<99_000), memory(188)]),
        Recipe(size: 100_000, parts: [.file(0..<564), memory(188), memory(200_000), .file(564..<100_000)]),
        Recipe(size: 9_000_000, parts: [memory(3_000_000), .file(1..<8_999_999), memory(5)]),
        Recipe(size: 1, parts: [memory(20_000)]),
    ]

    private static func fixture(_ recipe: Recipe, held: Held = Held()) async throws -> ServerFixture {
        let folder = try TemporaryFolder()
        let path = folder.path("parts.ts")
        try Data(ServerFixture.content(recipe.size)).write(to: URL(filePath: path))
        return try await ServerFixture { exchange in
            exchange.whenEnded { held.end = $0 }
            withExtendedLifetime(folder) {}
            var representation = Representation(size: recipe.parts.length, mediaType: .mpegTS)
            representation.ignoresRange = exchange.head.path == "/whole"
            exchange.reply(representation, .parts(OwnedDescriptor(open(path, O_RDONLY | O_CLOEXEC)), recipe.parts))
        }
    }

    private func openFiles() -> Set<String> {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return Set(
            names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
                .filter { $0.hasSuffix("parts.ts") })
    }

    @Test(arguments: recipes) func partsArriveInOrder(recipe: Recipe) async throws {
        let held = Held()
        let fixture = try await Self.fixture(recipe, held: held)
        let before = openFiles()
        let reply = try await fixture.ask("GET /")
        #expect(reply.status == 200 && reply.body == recipe.whole)
        #expect(reply.field("Content-Length") == "\(recipe.whole.count)")
        try await waitUntil("the end") { await held.end != nil }
        #expect(await held.end == ReplyEnd(cause: .complete, status: 200, bodyBytes: Int64(recipe.whole.count)))
        try await waitUntil("the file closed") { openFiles().subtracting(before).isEmpty }
    }

    @Test(arguments: recipes) func rangesMayCrossParts(recipe: Recipe) async throws {
        let whole = recipe.whole
        let fixture = try await Self.fixture(recipe)
        let edges = recipe.parts.reduce(into: [0]) { $0.append($0[$0.count - 1] + Int($1.count)) }
        let places = Set(edges.flatMap { [$0 - 1, $0, $0 + 1] }).filter { whole.indices.contains($0) }.sorted()
        let connection = try fixture.connect()
        for first in places {
            for last in [first, places.first { $0 > first } ?? first, whole.count - 1] {
                try await connection.send(fixture.request("GET /", "Range: bytes=\(first)-\(last)"))
                let reply = try await connection.reply()
                #expect(reply.status == 206 && reply.body == Array(whole[first...last]), "\(first)-\(last)")
                #expect(reply.field("Content-Range") == "bytes \(first)-\(last)/\(whole.count)")
            }
        }
    }

    @Test func aHeadRequestGetsTheLengthOnly() async throws {
        let reply = try await Self.fixture(Self.recipes[1]).ask("HEAD /")
        #expect(reply.status == 200 && reply.field("Content-Length") == "\(Self.recipes[1].whole.count)")
    }

    @Test(arguments: ["bytes=5-", "bytes=5-9", "bytes=999999999-"])
    func theWholeIsSentWhereRangesAreIgnored(range: String) async throws {
        let reply = try await Self.fixture(Self.recipes[1]).ask("GET /whole", "Range: \(range)")
        #expect(reply.status == 200 && reply.body == Self.recipes[1].whole)
        #expect(reply.field("Content-Range") == nil)
    }

    @Test(arguments: [(100, 500), (100_000, 200)])
    func aFileShorterThanItsPartsIsNeverSentAsComplete(size: Int, status: Int) async throws {
        let recipe = Recipe(size: size, parts: [Self.memory(10), .file(0..<Int64(size * 2))])
        let reply = try await Self.fixture(recipe).ask("GET /")
        #expect(reply.status == status && reply.isWhole == (status == 500))
    }

    @Test func aClientThatLeavesDuringABodyIsNoticed() async throws {
        let held = Held()
        let fixture = try await Self.fixture(Self.recipes[3], held: held)
        var connection: RawConnection? = try fixture.connect(receiveBuffer: 4_096)
        try await connection?.send(fixture.request("GET /"))
        _ = try await connection?.receiveHead()
        connection = nil
        try await waitUntil("the end") { await held.end != nil }
        #expect(await held.end?.cause == .clientLeft)
    }
}
