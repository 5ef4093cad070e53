import Dispatch
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Fetching
@testable import Library
@testable import Store

/// Playlists that players have before they are on disk.
@Suite @LoopActor struct PlaylistWriterTests {
    let fixture: LibraryFixture
    let asset: Asset
    let rendition: Rendition

    init() async throws {
        fixture = try await LibraryFixture()
        asset = try await fixture.open("/ts/master.m3u8")
        rendition = try #require(asset.rendition("video-90p"))
    }

    private var catalogue: Catalogue { fixture.library.store.catalogue }
    private var playlists: PlaylistLoader { fixture.library.playlists }

    /// Makes the catalogue's writes wait until the semaphore is signalled.
    private func hold(_ other: LibraryFixture? = nil) async -> DispatchSemaphore {
        await Self.hold((other ?? fixture).library.store.catalogue)
    }

    private nonisolated static func hold(_ catalogue: Catalogue) async -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        await withCheckedContinuation { begun in
            Task.detached {
                try await catalogue.write { _ in
                    begun.resume()
                    _ = gate.wait(timeout: .now() + 30)
                    return []
                }
            }
        }
        return gate
    }

    private func change(_ sql: String) async throws {
        let script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
        let result = try await ProcessRunner.run(
            "python3", ["-c", script, fixture.folder.path("catalogue-1.sqlite"), sql])
        #expect(result.exit == .code(0), "\(result.errors)")
    }

    private var pieces: [String] { fixture.folder.files().filter { $0.hasSuffix(".ts") } }

    @Test func nothingThatIsFetchedBeforeThePlaylistIsWrittenIsStored() async throws {
        let gate = await hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        #expect(!rendition.isSaved && playlists.isWriting(asset))
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        #expect(!fetch.isPiece && pieces.isEmpty)
        fetch.release()
        gate.signal()
        await playlists.writingEnds(of: asset)
        #expect(rendition.isSaved && !playlists.isWriting(asset))
        #expect(try catalogue.rows(of: asset.id).playlists.map(\.rendition).sorted() == ["", "video-90p"])
        let again = try fixture.fetch(1, of: rendition, in: asset)
        try await again.end()
        #expect(again.isPiece && pieces.count == 1)
    }

    @Test func aPlaylistForOthersIsWritten() async throws {
        let gate = await hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        let other = Task { @LoopActor in
            _ = try await playlists.source(of: rendition, in: asset)
            return rendition.isSaved
        }
        gate.signal()
        #expect(try await other.value)
    }

    @Test func playlistsThatComeDuringAWriteAreWrittenTogether() async throws {
        var gate = await hold()
        let renditions = asset.renditions
        #expect(renditions.count > 2)
        _ = try await playlists.playerSource(of: rendition, in: asset)
        // The first write waits for the gate.
        for other in renditions where other !== rendition {
            _ = try await playlists.playerSource(of: other, in: asset)
        }
        gate.signal()
        _ = try await playlists.source(of: rendition, in: asset)
        #expect(renditions.allSatisfy { $0.isSaved })
        #expect(catalogue.revision(of: asset.id) == 2)
        gate = await hold()
        // What is saved is not written again.
        _ = try await playlists.source(of: rendition, in: asset)
        gate.signal()
    }

    @Test func nothingIsStoredOfAPlaylistThatCannotBeWritten() async throws {
        try await change(
            "CREATE TRIGGER refusal BEFORE INSERT ON playlist BEGIN SELECT RAISE(ABORT, 'refused'); END")
        _ = try await playlists.playerSource(of: rendition, in: asset)
        await playlists.writingEnds(of: asset)
        #expect(!rendition.isSaved && asset.saveFailure?.code == .catalogue)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        #expect(!fetch.isPiece && fetch.keepFailure?.code == .catalogue && pieces.isEmpty)
        fetch.release()

        // The next use of the playlist writes it, and the next segment is stored.
        try await change("DROP TRIGGER refusal")
        _ = try await playlists.source(of: rendition, in: asset)
        #expect(rendition.isSaved && asset.saveFailure == nil)
        let again = try fixture.fetch(1, of: rendition, in: asset)
        try await again.end()
        #expect(again.isPiece && pieces.count == 1)
    }

    @Test func aForgottenPlaylistIsNotSaved() async throws {
        let gate = await hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        rendition.forget()
        gate.signal()
        await playlists.writingEnds(of: asset)
        #expect(!rendition.isSaved)
    }

    @Test func changesOfTheUserDuringTheFirstWriteAreWrittenToo() async throws {
        let gate = await hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        try await fixture.library.rename(asset, to: "film")
        await fixture.library.entitle(asset, "Film")
        gate.signal()
        _ = try await playlists.source(of: rendition, in: asset)
        try await fixture.restart()
        let known = fixture.library.asset(named: "film")
        #expect(known?.id == asset.id && known?.title == "Film")
    }

    @Test func aTimeOfPlaybackDuringTheFirstWriteIsWrittenToo() async throws {
        let gate = await hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        asset.life.recordPlay(at: 5)
        await fixture.library.records.saveLife(of: asset)
        gate.signal()
        _ = try await playlists.source(of: rendition, in: asset)
        try await fixture.restart()
        #expect(fixture.library.asset(id: asset.id)?.life.firstPlayed == 5)
    }

    @Test func aNewEntryDuringTheFirstWriteComesAfterIt() async throws {
        let root = try TemporaryFolder()
        func line(_ rate: Int) -> String { "#EXT-X-STREAM-INF:BANDWIDTH=\(rate),RESOLUTION=\(rate)x90\n\(rate).m3u8\n" }
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n"
        try root.write(Data(list.utf8), to: "100.m3u8")
        try root.write(Data("#EXTM3U\n\(line(100))".utf8), to: "master.m3u8")
        let fixture = try await LibraryFixture(root: root)
        let asset = try await fixture.open("/master.m3u8")
        let gate = await hold(fixture)
        _ = try await fixture.library.playlists.playerSource(of: asset.renditions[0], in: asset)
        try root.write(Data("#EXTM3U\n\(line(100))\(line(200))".utf8), to: "master.m3u8")
        asset.checked = nil
        let refresh = Task { @LoopActor in try await fixture.library.playlists.refresh(asset) }
        try await waitUntil("the new entry") { asset.renditions.count == 2 }
        gate.signal()
        _ = try await refresh.value
        try await fixture.restart()
        #expect(fixture.library.asset(id: asset.id)?.renditions.count == 2)
    }

    @Test func whatWaitsIsWrittenBeforeTheEnd() async throws {
        let gate = await hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        let closing = Task { @LoopActor in await fixture.library.close() }
        gate.signal()
        await closing.value
        #expect(rendition.isSaved)
    }
}
