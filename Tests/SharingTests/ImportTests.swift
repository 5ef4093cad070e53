import EventLoop
import Foundation
import HLS
import HTTPMessage
import Sharing
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

@Suite @LoopActor struct ImportTests {
    private func path(_ fixture: String) -> String { Repository.path("fixtures/media/\(fixture)") }

    @Test(arguments: ["ts", "cmaf", "aes", "byterange-fmp4", "audio"])
    func anImportIsCompleteAfterARestart(fixture name: String) async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.exchange.importer.importAsset(at: path(name), name: "film")
        #expect(asset.content.isEverythingComplete && asset.origin.isPlaceholder)
        #expect(asset.published == asset.content.completeRenditions)
        let bytes = asset.bytes
        try await fixture.restart()
        let again = try #require(fixture.library.asset(named: "film"))
        #expect(again.content.isEverythingComplete && again.bytes == bytes && again.id == asset.id)
        let bundle = fixture.folder.path("assets/\(again.id)")
        #expect(FileManager.default.fileExists(atPath: bundle + "/master.m3u8"))
    }

    @Test func anImportedByteRangeIsAFileWithItsBytes() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.exchange.importer.importAsset(at: path("byterange-ts"))
        #expect(asset.name == "byterange-ts")
        let rendition = try #require(asset.rendition("video-180p"))
        let all = try Repository.fixture("/byterange-ts/180p/all.ts")
        for segment in try #require(rendition.source?.playlist.segments) {
            let range = try #require(segment.byteRange)
            let file = rendition.file(of: segment)
            let bytes = try rendition.folder.pieces().directory.read(file)
            #expect(bytes == Array(all[range.offset..<range.end]))
        }
    }

    @Test func anImportMakesNoRequestsAndPlaysWithHoles() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.exchange.importer.importAsset(at: path("ts"), name: "film")
        #expect(try await fixture.library.playlists.refresh(asset) == .absent)
        let rendition = try #require(asset.rendition("video-90p"))
        let resource = try fixture.resource(2, of: rendition)
        try rendition.folder.remove(resource.name.description) {}
        let fetch = try fixture.library.fetch(resource, in: rendition.folder, of: asset, urgency: .playback)
        defer { fetch.release() }
        #expect(await fetch.result().code == .originAbsent)
        #expect(!rendition.isComplete && asset.isPlayableOffline)
    }

    @Test func aTakenNameIsRefusedAndADefaultIsNumbered() async throws {
        let fixture = try await TestHouse()
        _ = try await fixture.exchange.importer.importAsset(at: path("ts"))
        #expect(
            await code { _ = try await fixture.exchange.importer.importAsset(at: path("ts"), name: "ts") } == .nameTaken
        )
        #expect(
            await code { _ = try await fixture.exchange.importer.importAsset(at: path("ts"), name: "A film") }
                == .nameTaken)
        #expect(try await fixture.exchange.importer.importAsset(at: path("ts")).name == "ts-2")
        #expect(fixture.library.assets.map(\.name) == ["ts", "ts-2"])
    }

    @Test(arguments: ["fixtures", "/proc", "", "/dev/null", "/etc/passwd"])
    func aFolderWithoutHLSIsRefused(path: String) async throws {
        let fixture = try await TestHouse()
        #expect(await exchangeCode { _ = try await fixture.exchange.importer.importAsset(at: path) } == .badImport)
        #expect(fixture.library.assets.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path("tmp")) == [])
    }
}
