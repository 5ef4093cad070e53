import EventLoop
import Fetching
import Foundation
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Sharing

@Suite("S31: a piece that another program has changed in place") @LoopActor struct ChangedPieceTests {
    private let out: TemporaryFolder

    init() throws {
        out = try TemporaryFolder()
    }

    private func film(in house: TestHouse) async throws -> Asset {
        try await house.exchange.importer.importAsset(at: Repository.path("fixtures/media/cmaf"), name: "film")
    }

    /// Changes a byte of a stored piece, of which nobody has read anything.
    private func damage(_ file: String, in house: TestHouse) async throws {
        await house.flush()
        try await DiskTick.pass(in: house.folder)
        try FileDamage.flipBit(of: house.folder.find(file))
    }

    @Test("is not exported", arguments: ["film", "film.tar", "film.mp4"])
    func exports(target: String) async throws {
        let house = try await TestHouse()
        let asset = try await film(in: house)
        try await damage("video-270p/2.m4s", in: house)
        let error = await #expect(throws: ExchangeError.self) {
            _ = try await house.exchange.exporter.export(asset, to: out.path(target))
        }
        #expect(
            error?.code == .incomplete && error?.message.contains("video-270p/2.m4s") ?? false,
            "\(String(describing: error))")
        #expect(!FileManager.default.fileExists(atPath: out.path(target)))
        // It is a hole from then on.
        #expect(try !#require(asset.rendition("video-270p")).folder.contains("2.m4s"))
    }

    @Test("only in its times is exported as it is", arguments: ["film", "film.tar"])
    func touched(target: String) async throws {
        let house = try await TestHouse()
        let asset = try await film(in: house)
        await house.flush()
        try await DiskTick.pass(in: house.folder)
        let path = try house.folder.find("video-270p/2.m4s")
        try FileManager.default.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
        _ = try await house.exchange.exporter.export(asset, to: out.path(target))
        #expect(FileManager.default.fileExists(atPath: out.path(target)))
    }

    @Test("after the last look at it is not exported either")
    func changedMeanwhile() async throws {
        let house = try await TestHouse()
        let asset = try await film(in: house)
        let contents = try await AssetExport(asset: asset).verifiedContents()
        try await damage("video-270p/2.m4s", in: house)
        let error = #expect(throws: StoreError.self) { try contents.writeFolder(at: out.path("film")) }
        #expect(error?.code == .missing, "\(String(describing: error))")
        #expect(!FileManager.default.fileExists(atPath: out.path("film")))
    }

    @Test("is not in the one file of subtitles: it is a hole, and this asset has no origin to fill it")
    func subtitles() async throws {
        let house = try await TestHouse()
        let asset = try await film(in: house)
        try await damage("subtitles-en/1.vtt", in: house)
        let error = await #expect(throws: ExchangeError.self) {
            _ = try await house.exchange.exporter.subtitles("en", of: asset)
        }
        #expect(error?.message.contains("subtitles-en/1.vtt") ?? false, "\(String(describing: error))")
        #expect(try !#require(asset.rendition("subtitles-en")).folder.contains("1.vtt"))
    }
}
