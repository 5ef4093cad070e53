import EventLoop
import Foundation
import Glibc
import HTTPMessage
import Orders
import Origin
import Retention
import Sharing
import Store
import Substitution
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// Symbolic links that an attacker puts into the store: no file outside is read as content, written or deleted.
@Suite @LoopActor struct PlantedLinkTests {
    /// The path of the link below the store, and its target in the folder outside.
    struct Plant: CustomTestStringConvertible, Sendable {
        let place: String
        let target: String
        var testDescription: String { "\(place) → \(target)" }
    }

    nonisolated static let plants = [
        Plant(place: "assets/ID", target: "bundle"), Plant(place: "assets/ID/video-90p", target: "bundle/video-90p"),
        Plant(place: "assets/ID/video-90p/0.ts", target: "bundle/video-90p/0.ts"),
        Plant(place: "assets/ID/video-90p/SHA256SUMS", target: "bundle/video-90p/SHA256SUMS"),
        Plant(place: "assets/ID/video-90p/media.m3u8", target: "bundle/video-90p/media.m3u8"),
        Plant(place: "assets/ID/asset.json", target: "bundle/asset.json"),
        Plant(place: "assets/ID/master.m3u8", target: "bundle/master.m3u8"), Plant(place: "assets", target: ""),
        Plant(place: "tmp", target: "tmp"), Plant(place: "records", target: "records"),
        Plant(place: "lock", target: "bundle/asset.json"),
        Plant(place: "catalogue-1.sqlite", target: "catalogue-1.sqlite"),
        Plant(place: "catalogue-1.sqlite-wal", target: "bundle/asset.json"),
    ]

    /// Every file with its bytes, mode and time.
    private func state(of folder: TemporaryFolder) throws -> [String: String] {
        var state: [String: String] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            var status = stat()
            lstat(folder.path(name), &status)
            let bytes = FileManager.default.contents(atPath: folder.path(name)) ?? Data()
            state[name] = "\(status.st_mode) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) \(bytes.hashValue)"
        }
        return state
    }

    @Test(arguments: plants) func touchesNothingOutsideTheStore(plant: Plant) async throws {
        let store = try TemporaryFolder(), outside = try TemporaryFolder()
        let id = try await importFilm(into: store)
        try fill(outside, from: store, id: id)
        let place = store.path(plant.place.replacingOccurrences(of: "ID", with: id))
        try? FileManager.default.removeItem(atPath: place)
        #expect(symlink(outside.path + (plant.target.isEmpty ? "" : "/\(plant.target)"), place) == 0)
        let before = try state(of: outside)

        try await useEverything(in: store, with: plant)
        #expect(try state(of: outside) == before)
    }

    /// Imports a film into a new store, and returns its id.
    private func importFilm(into folder: TemporaryFolder) async throws -> String {
        let library = Library(store: try BundleStore(path: folder.path, reserve: 0), client: .init())
        let exchange = ExchangeServices(library, moves: MoveRegister())
        let asset = try await exchange.importer.importAsset(at: Repository.path("fixtures/media/ts"), name: "film")
        await library.close()
        return asset.id
    }

    /// Writes the files that a reader of a link would look for, and files that a cleanup would delete.
    private func fill(_ outside: TemporaryFolder, from store: TemporaryFolder, id: String) throws {
        let copies = [
            ("assets/\(id)", "bundle"), ("records", "records"), ("catalogue-1.sqlite", "catalogue-1.sqlite"),
        ]
        for (name, copy) in copies {
            try FileManager.default.copyItem(atPath: store.path(name), toPath: outside.path(copy))
        }
        try outside.write(Data("canary".utf8), to: "tmp/canary")
        try outside.write(Data("canary".utf8), to: "records/film.1.json.new")
    }

    /// Opens a store with a link in it, and reads, changes and removes all that it has.
    private func useEverything(in folder: TemporaryFolder, with plant: Plant) async throws {
        let store = try await reopened(unless: { ($0 as? StoreError)?.code == .busy }) {
            try BundleStore(path: folder.path, reserve: 0)
        }
        let substitutions = Substitutions()
        let library = Library(store: store, client: .init(), partialPlayback: substitutions)
        let exchange = ExchangeServices(library, moves: MoveRegister())
        await exchange.orphans.adopt()

        for asset in library.assets {
            _ = await substitutions.playability(of: asset)
            await library.survey(asset)
            expectPieces(of: asset, with: plant)
            await library.setTitle("A title", of: asset)
            try? await RetentionService(of: library).setPolicy(StoragePolicy(expires: 1), of: asset)
            try? await library.rename(asset, to: "other")
        }

        _ = try? await exchange.importer.importAsset(at: Repository.path("fixtures/media/ts"), name: "second")
        for asset in library.assets {
            _ = try? await library.remove(asset)
        }
        await library.close()
    }

    /// A linked piece is not read. A linked list beside the pieces does not hide them.
    private func expectPieces(of asset: Asset, with plant: Plant) {
        guard let rendition = asset.rendition("video-90p"), plant.place.hasPrefix("assets") else { return }
        let isPiece = ![".json", ".m3u8", "SUMS"].contains { plant.place.hasSuffix($0) }
        let file = rendition.folder.open("0.ts")
        #expect(isPiece == (file == nil))
        if let file {
            close(file)
        }
    }

    // MARK: Names

    nonisolated static let names = [
        "..", ".", "a/b", "../x", "a\u{0}b", "a\nb", String(repeating: "a", count: 5000), "", " ", "-", "A", "Ä",
    ]

    @Test(arguments: names) func refusesAnInvalidName(name: String) async throws {
        let folder = try TemporaryFolder()
        let library = Library(store: try BundleStore(path: folder.path("store"), reserve: 0), client: .init())
        let exchange = ExchangeServices(library, moves: MoveRegister())
        let film = Repository.path("fixtures/media/ts")
        let asset = try await exchange.importer.importAsset(at: film, name: "film")
        let before = try state(of: folder).keys.filter { !$0.contains("sqlite") && !$0.contains("records") }.sorted()
        for attempt in [
            { _ = try await library.rename(asset, to: name) },
            { _ = try await exchange.importer.importAsset(at: film, name: name) },
        ] as [@LoopActor () async throws -> Void] {
            #expect(await code(of: attempt) == .nameTaken)
        }
        let isPath = name.hasPrefix("/")
        if !isPath {
            let error = await #expect(throws: ExchangeError.self) {
                _ = try await exchange.exporter.export(asset, to: name)
            }
            #expect(error?.code == .badTarget || error?.code == .store, "\(String(describing: error))")
            let other = await #expect(throws: ExchangeError.self) {
                _ = try await exchange.importer.importAsset(at: name)
            }
            #expect(other?.code == .badImport)
        }
        #expect(asset.name == "film" && library.assets.count == 1 && asset.content.isEverythingComplete)
        #expect(
            try state(of: folder).keys.filter { !$0.contains("sqlite") && !$0.contains("records") }.sorted() == before)
    }

    @Test func namesInABundleCannotLeaveTheStore() async throws {
        let folder = try TemporaryFolder()
        let library = Library(store: try BundleStore(path: folder.path("store"), reserve: 0), client: .init())
        let exchange = ExchangeServices(library, moves: MoveRegister())
        for (place, name) in Self.names.enumerated() where name != "" {
            let copy = folder.path("in-\(place)")
            try FileManager.default.copyItem(atPath: Repository.path("fixtures/media/ts"), toPath: copy)
            let identity: [String: Any] = [
                "format": 1, "id": "../\(name)", "name": name, "title": name, "artwork": "../../../../etc/passwd",
                "origin": "file:///etc/passwd", "created": 1,
            ]
            try JSONSerialization.data(withJSONObject: identity).write(to: URL(filePath: copy + "/asset.json"))
            let asset = try await exchange.importer.importAsset(at: copy)
            #expect(AssetNaming.isName(asset.name) && Directory.isName(asset.id))
            #expect(asset.content.additions.artwork == nil)
            #expect(asset.origin.isPlaceholder && asset.content.isEverythingComplete)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("store/assets"))
        #expect(Set(names) == Set(library.assets.map(\.id)))
    }
}
