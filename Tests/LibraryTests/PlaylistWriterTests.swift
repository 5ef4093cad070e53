import Dispatch
import EventLoop
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
    private func hold() -> DispatchSemaphore {
        let gate = DispatchSemaphore(value: 0)
        Task.detached { [catalogue] in
            try await catalogue.write { _ in
                _ = gate.wait(timeout: .now() + 30)
                return []
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

    @Test func aPlayerDoesNotWaitForTheDiskButItsPiecesDo() async throws {
        let gate = hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        #expect(!rendition.isSaved)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await waitUntil("all bytes") { @LoopActor in fetch.state.phase == .committing }
        #expect(fetch.outcome == nil && pieces.isEmpty)
        gate.signal()
        try await fetch.end()
        #expect(rendition.isSaved && fetch.isPiece && pieces.count == 1)
        #expect(try catalogue.rows(of: asset.id).playlists.map(\.rendition).sorted() == ["", "video-90p"])
    }

    @Test func aPlaylistForOthersIsWritten() async throws {
        let gate = hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        let other = Task { @LoopActor in
            _ = try await playlists.source(of: rendition, in: asset)
            return rendition.isSaved
        }
        gate.signal()
        #expect(try await other.value)
    }

    @Test func playlistsThatComeDuringAWriteAreWrittenTogether() async throws {
        var gate = hold()
        let renditions = asset.renditions
        #expect(renditions.count > 2)
        _ = try await playlists.playerSource(of: rendition, in: asset)
        // The first write waits for the gate.
        for other in renditions where other !== rendition {
            _ = try await playlists.playerSource(of: other, in: asset)
        }
        gate.signal()
        _ = try await playlists.source(of: rendition, in: asset)
        #expect(renditions.allSatisfy { $0.isSaved && !$0.isBeingSaved })
        #expect(catalogue.revision(of: asset.id) == 2)
        gate = hold()
        // What is saved is not written again.
        _ = try await playlists.source(of: rendition, in: asset)
        gate.signal()
    }

    @Test func nothingIsStoredOfAPlaylistThatCannotBeWritten() async throws {
        try await change(
            "CREATE TRIGGER refusal BEFORE INSERT ON playlist BEGIN SELECT RAISE(ABORT, 'refused'); END")
        let gate = hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await waitUntil("all bytes") { @LoopActor in fetch.state.phase == .committing }
        gate.signal()
        try await fetch.end()
        #expect(!fetch.isPiece && !rendition.isSaved && pieces.isEmpty)
        #expect(fetch.written == (try Repository.fixture("/ts/90p/0.ts").count))
        #expect(asset.saveFailure?.code == .catalogue)

        // The next request for the playlist writes it, and the next one for the segment stores it.
        try await change("DROP TRIGGER refusal")
        _ = try await playlists.source(of: rendition, in: asset)
        #expect(rendition.isSaved && asset.saveFailure == nil)
        let again = try fixture.fetch(0, of: rendition, in: asset)
        try await again.end()
        #expect(again.isPiece && pieces.count == 1)
    }

    @Test func aForgottenPlaylistIsNotSaved() async throws {
        let gate = hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await waitUntil("all bytes") { @LoopActor in fetch.state.phase == .committing }
        rendition.forget()
        gate.signal()
        try await fetch.end()
        #expect(!rendition.isSaved && !fetch.isPiece && pieces.isEmpty)
    }

    @Test func changesOfTheUserDuringTheFirstWriteAreWrittenToo() async throws {
        let gate = hold()
        _ = try await playlists.playerSource(of: rendition, in: asset)
        try await fixture.library.rename(asset, to: "film")
        await fixture.library.entitle(asset, "Film")
        gate.signal()
        _ = try await playlists.source(of: rendition, in: asset)
        try await fixture.restart()
        let known = fixture.library.asset(named: "film")
        #expect(known?.id == asset.id && known?.title == "Film")
    }

    @Test func aLonePlaylistToo() async throws {
        let gate = hold()
        let lone = try await fixture.open("/ts/90p/media.m3u8")
        let rendition = try #require(lone.lone)
        #expect(!rendition.isSaved)
        let fetch = try fixture.fetch(0, of: rendition, in: lone)
        gate.signal()
        try await fetch.end()
        #expect(rendition.isSaved && fetch.isPiece)
    }
}
