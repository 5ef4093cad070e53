import Assets
import Downloads
import EventLoop
import Foundation
import HTTPServer
import Orders
import TestRooms
import TestSupport
import Testing

@testable import Control
@testable import WeirAPI

/// Events for changes to assets, by any cause.
@Suite @LoopActor struct AssetEventTests {
    private let house: TestHouse
    private var library: Library { house.library }
    private var downloader: Downloader { house.downloader }
    private let service: LibraryService
    private let feed: EventFeed
    private let reader: EventReader

    init() async throws {
        house = try await TestHouse(.downloader())
        service = LibraryService(of: house)
        feed = EventFeed(house.downloader, of: house.library)
        reader = feed.reader(after: nil)
        reader.open {}
        _ = reader.next()
    }

    /// Events since the last call: the name of the event with that of the asset, or the mode.
    private func told() throws -> [String] {
        guard case .bytes(let bytes) = reader.next() else { return [] }
        var parser = EventTextParser()
        return try parser.parse(bytes).compactMap { message in
            switch try API.Event(name: message.name, data: Array(message.data.utf8)) {
            case .changed(let reference): "changed \(reference.asset) \(reference.id)"
            case .contentChanged(let reference): "other content \(reference.asset)"
            case .mode(let mode): "mode \(mode.mode.rawValue)"
            case .removed(let reference): "removed \(reference.asset)"
            default: nil
            }
        }
    }

    private func take(_ name: String) async throws -> API.Asset {
        try await service.importAsset(.init(path: Repository.path("fixtures/media/ts"), name: name))
    }

    @Test func changesToAnAssetArePublishedAtOnce() async throws {
        let id = try await take("film").id
        let change = ["changed film \(id)"]
        #expect(try told() == change)
        _ = try await service.change(.init(title: "A film"), ofAsset: "film")
        #expect(try told() == change)
        // A change to the current value publishes no event.
        _ = try await service.change(.init(title: "A film"), ofAsset: "film")
        #expect(try told() == [])
        _ = try await service.setPolicy(.init(priority: .important), ofAsset: "film")
        #expect(try told() == change)
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1]
        _ = try await service.setArtwork(png, ofAsset: "film")
        #expect(try told() == change)
        _ = try await service.change(.init(name: "picture"), ofAsset: "film")
        #expect(try told() == ["changed picture \(id)"])
        _ = try await service.removeAsset(named: "picture")
        #expect(try told() == ["removed picture", "changed picture \(id)"])
    }

    @Test func changesToAssetsWithoutDownloadsArePublished() async throws {
        let url = try LibraryService.url(house.origin.master("ts"))
        let asset = try await library.open(url)
        #expect(try told() == ["changed ts \(asset.id)"])
        _ = try await service.change(.init(name: "film"), ofAsset: "ts")
        #expect(try told() == ["changed film \(asset.id)"])
        _ = try await service.removeAsset(named: "film")
        #expect(try told() == ["changed film \(asset.id)"])
    }

    @Test func aChangeOfModeIsPublished() async throws {
        for mode in [PlayMode.offline, .offline, .auto] {
            _ = try await service.change(to: .init(mode))
        }
        #expect(try told() == ["mode offline", "mode auto"])
    }

    @Test func completeAssetsAreListedWithoutAnEvent() async throws {
        let film = try await take("film")
        let list = try await service.downloads()
        #expect(list.count == 1 && list[0].id == film.id && list[0].state == .complete && list[0].fraction == 1)
        #expect(list[0].parts == [] && list[0].selection == API.Tracks())
        let whole = try await service.download(id: film.id)
        #expect(list[0].bytes == whole.bytes && list[0].totalBytes == whole.bytes && whole.parts.count > 1)
        #expect(abs((list[0].duration ?? 0) - (whole.duration ?? 0)) < 0.1)
        #expect(snapshot(of: EventFeed(downloader, of: library)) == [])
        // The loss of a piece makes the asset incomplete and publishes an event.
        let asset = try #require(library.asset(named: "film"))
        try FileManager.default.removeItem(atPath: house.folder.path("assets/\(film.id)/video-90p/0.ts"))
        await library.survey(asset)
        #expect(snapshot(of: EventFeed(downloader, of: library)) == [film.id])
    }

    /// The ids of the downloads in a stream's first snapshot.
    private func snapshot(of feed: EventFeed) -> [String]? {
        let reader = feed.reader(after: nil)
        reader.open {}
        guard case .bytes(let bytes) = reader.next() else { return nil }
        var parser = EventTextParser()
        guard let message = parser.parse(bytes).first,
            case .snapshot(let downloads)? = try? API.Event(name: message.name, data: Array(message.data.utf8))
        else { return nil }
        return downloads.map(\.id)
    }
}
