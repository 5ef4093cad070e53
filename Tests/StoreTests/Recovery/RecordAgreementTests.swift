import Foundation
import TestSupport
import Testing

@testable import Store

/// Any changes of a catalogue: its checksums stay those of its rows, and the records alone give the same rows.
@Suite struct RecordAgreementTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder(inMemory: true) }

    /// A catalogue, and the assets that it should have.
    private final class Changes {
        let catalogue: Catalogue
        private var random: SeededDice
        private var assets: [AssetRecord] = []
        private var count = 0

        init(_ catalogue: Catalogue, _ random: SeededDice) {
            self.catalogue = catalogue
            self.random = random
        }

        var ids: [String] { assets.map(\.id).sorted() }

        func makeOne() async throws {
            let index = assets.indices.randomElement(using: &random)
            guard let index, assets.count > 2 || Bool.random(using: &random) else { return try await add() }
            switch Int.random(in: 0..<9, using: &random) {
            case 0: try await add()
            case 1: try await remove(index)
            case 2: try await revise(index)
            case 3: try await supersede(index)
            case 4, 5: try await changePlaylists(of: assets[index].id)
            default: try await change(index)
            }
        }

        private func add() async throws {
            let rows = SampleCatalogue.rows(count, segments: 2)
            count += 1
            assets.append(rows.asset)
            try await catalogue.save(rows.contents)
        }

        private func remove(_ index: Int) async throws {
            let removed = assets.remove(at: index)
            for other in assets.indices where assets[other].revises == removed.id {
                assets[other].revises = nil
            }
            try await catalogue.removeAsset(removed.id)
        }

        private func revise(_ index: Int) async throws {
            let asset = assets[index]
            guard asset.revises == nil, !assets.contains(where: { $0.revises == asset.id }) else { return }
            var revision = asset
            count += 1
            revision.id = "film-new-\(count)"
            revision.revises = asset.id
            assets.append(revision)
            let key = KeyRecord(asset: revision.id, number: 0, url: "https://o/revision")
            try await catalogue.save(.init(assets: [revision], keys: [key]))
        }

        private func supersede(_ index: Int) async throws {
            guard let revised = assets[index].revises else { return }
            assets[index].revises = nil
            let successor = assets[index]
            assets.removeAll { $0.id == revised }
            var life = StorageLife()
            life.firstPlayed = 7
            try await catalogue.supersede(revised, by: successor, StorageRecord(asset: successor.id, life))
        }

        private func changePlaylists(of id: String) async throws {
            let names = ["", "video-1080p", "audio-en", "other"].shuffled(using: &random)
            let written = names.prefix(Int.random(in: 0...2, using: &random)).map { name in
                PlaylistRecord(asset: id, rendition: name, url: "https://o/\(count)", body: [35], fetched: 8)
            }
            let gone = Array(names.suffix(Int.random(in: 0...3, using: &random)))
            try await catalogue.save(.init(playlists: written), without: gone, of: id)
        }

        private func change(_ index: Int) async throws {
            count += 1
            assets[index].title = "Title \(count)"
            let id = assets[index].id
            let numbers = (0..<Int.random(in: 0...3, using: &random)).map { _ in Int.random(in: 0..<6, using: &random) }
            var life = StorageLife()
            life.lastPlayed = Int64(count)
            var contents = Catalogue.Contents(assets: [assets[index]])
            contents.keys = numbers.map { KeyRecord(asset: id, number: $0, url: "https://o/\(count)/\($0)") }
            contents.storage = [StorageRecord(asset: id, life)]
            contents.downloads = [DownloadRecord(asset: id, renditions: "a", state: "paused", created: Int64(count))]
            contents.recordings = [RecordingRecord(asset: id, rendition: "a")]
            try await catalogue.save(contents)
        }
    }

    private func open(_ name: String, _ access: Catalogue.Access = .readWrite) throws -> Catalogue {
        try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        return try Catalogue(path: folder.path(name), access: access)
    }

    @Test(arguments: 1...6) func theRecordsAloneGiveTheSameRows(_ seed: UInt64) async throws {
        let changes = Changes(try open("store"), SeededDice(state: seed))
        for step in 0..<60 {
            try await changes.makeOne()
            // Between two looks, several changes are written together.
            if step % 4 == 1 {
                await changes.catalogue.flush()
            }
            guard step % 12 == 11 else { continue }
            await changes.catalogue.flush()
            try? FileManager.default.removeItem(atPath: folder.path("copy"))
            try FileManager.default.copyItem(atPath: folder.path("store"), toPath: folder.path("copy"))
            let sound = try open("copy", .readOnly)
            #expect(sound.recovery == nil, "seed \(seed), step \(step)")
            #expect(sound.initial.assets.map(\.id).sorted() == changes.ids, "seed \(seed), step \(step)")

            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: folder.path("copy/catalogue-1.sqlite" + suffix))
            }
            let restored = try open("copy", .readOnly)
            #expect(restored.initial.sorted == sound.initial.sorted, "seed \(seed), step \(step)")
            #expect(restored.recovery?.unreadable.count ?? 0 == 0, "seed \(seed), step \(step)")
        }
    }
}
