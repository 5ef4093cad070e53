import EventLoop
import Foundation
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Sharing

@Suite("A poster is a frame of what is stored") @LoopActor struct PosterTests {
    private func film(_ fixture: String, in house: TestHouse) async throws -> Asset {
        try await house.exchange.importer.importAsset(at: Repository.path("fixtures/media/\(fixture)"), name: fixture)
    }

    @Test(
        "of transport streams, fragments behind their section, ranges of a file, and encrypted segments",
        arguments: ["ts", "cmaf", "byterange-fmp4", "byterange-ts", "aes", "aes-noiv"])
    func isOfEachContainer(fixture: String) async throws {
        let house = try await TestHouse()
        let asset = try await film(fixture, in: house)
        let picture = try #require(await house.exchange.posters.poster(of: asset))
        #expect(picture.kind == .jpeg)
        // It is made once.
        #expect(await house.exchange.posters.poster(of: asset) == picture)
    }

    @Test("and there is none of sound, nor of damaged segments")
    func isNotOfOthers() async throws {
        let house = try await TestHouse()
        #expect(await house.exchange.posters.poster(of: try await film("audio", in: house)) == nil)

        let asset = try await film("ts", in: house)
        await house.flush()
        try await DiskTick.pass(in: house.folder)
        for path in house.folder.files() where path.hasSuffix(".ts") {
            try FileDamage.flipBit(of: house.folder.path(path))
        }
        #expect(await house.exchange.posters.poster(of: asset) == nil)
    }

    @Test("many are asked for at once and come one after the other")
    func comesInTurn() async throws {
        let house = try await TestHouse()
        let asset = try await film("ts", in: house)
        let posters = house.exchange.posters
        let tasks = (0..<8).map { _ in Task { @LoopActor in await posters.poster(of: asset) } }
        var pictures: [Artwork?] = []
        for task in tasks {
            pictures.append(await task.value)
        }
        #expect(Set(pictures.compactMap { $0?.bytes }).count == 1 && pictures.count == 8)
    }
}
