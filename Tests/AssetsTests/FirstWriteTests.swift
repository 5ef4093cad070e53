import Dispatch
import EventLoop
import Foundation
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Store

/// Changes of an asset while its first rows are on their way to the disk.
@Suite @LoopActor struct FirstWriteTests {
    /// Begins the first write of an asset, runs `change` meanwhile, and returns once all is written.
    private func write(
        _ asset: Asset, in fixture: TestHouse, during change: () async throws -> Void
    ) async throws {
        #expect(!asset.isPersistent)
        let gate = await Self.hold(fixture.library.store.catalogue)
        let write = Task { @LoopActor in await fixture.library.records.saveNew(asset) }
        // Behind it on the loop: the rows are made now.
        await Task { @LoopActor in }.value
        do {
            try await change()
            gate.signal()
        } catch {
            gate.signal()
            throw error
        }
        await write.value
        #expect(asset.isPersistent)
    }

    /// Makes the catalogue's writes wait until the semaphore is signalled.
    private nonisolated static func hold(_ catalogue: Catalogue) async -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        await withCheckedContinuation { begun in
            Task.detached {
                try await catalogue.write { _, _ in
                    begun.resume()
                    _ = gate.wait(timeout: .now() + 30)
                }
            }
        }
        return gate
    }

    @Test func newWordsAreWritten() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        try await write(asset, in: fixture) {
            try await fixture.library.rename(asset, to: "film")
            await fixture.library.setTitle("Film", of: asset)
        }
        try await fixture.restart()
        let known = fixture.library.asset(named: "film")
        #expect(known?.id == asset.id && known?.title == "Film")
    }

    @Test func aTimeOfPlaybackIsWritten() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        try await write(asset, in: fixture) {
            asset.life.recordPlay(at: 5)
            await fixture.library.records.saveLife(of: asset)
        }
        try await fixture.restart()
        #expect(fixture.library.asset(id: asset.id)?.life.firstPlayed == 5)
    }

    @Test func aNewEntryIsWritten() async throws {
        let root = try TemporaryFolder()
        func line(_ rate: Int) -> String { "#EXT-X-STREAM-INF:BANDWIDTH=\(rate),RESOLUTION=\(rate)x90\n\(rate).m3u8\n" }
        try root.write(Data("#EXTM3U\n\(line(100))".utf8), to: "master.m3u8")
        let fixture = try await TestHouse(.origin(root))
        let asset = try await fixture.open("/master.m3u8")
        try root.write(Data("#EXTM3U\n\(line(100))\(line(200))".utf8), to: "master.m3u8")
        asset.entryChecks.latest = nil
        try await write(asset, in: fixture) {
            _ = try await fixture.library.playlists.refresh(asset)
            #expect(asset.renditions.count == 2)
        }
        try await fixture.restart()
        #expect(fixture.library.asset(id: asset.id)?.renditions.count == 2)
    }
}
