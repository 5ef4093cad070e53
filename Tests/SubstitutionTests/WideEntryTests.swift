import EventLoop
import Fetching
import Foundation
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Substitution

/// The loop's part in the use of an entry of 10,000 variants. In a debug build, which needs about eight times as long as a release build.
@Suite(.serialized) @LoopActor struct WideEntryTests {
    private func fixture() throws -> TemporaryFolder {
        let root = try TemporaryFolder()
        let lines = (0..<10_000).map { number in
            "#EXT-X-STREAM-INF:BANDWIDTH=\(100_000 + number),CODECS=\"avc1.42c00a,mp4a.40.2\"\n\(number).m3u8\n"
        }
        try root.write(Data("#EXTM3U\n\(lines.joined())".utf8), to: "wide.m3u8")
        let media = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST\n"
        try root.write(Data(media.utf8), to: "7.m3u8")
        try root.write(Data(media.replacing("0.ts", with: "1.ts").utf8), to: "8.m3u8")
        for (number, byte) in [UInt8(1), 2].enumerated() {
            try root.write(Data([0x47] + [UInt8](repeating: byte, count: 187)), to: "\(number).ts")
        }
        return root
    }

    @Test("Traits are read on another thread, and once for all playlists that become known")
    func traits() async throws {
        let fixture = try await TestHouse(.origin(try fixture()))
        let asset = try await fixture.open("/wide.m3u8")
        let substitutions = fixture.substitutions
        var longest = await LoopStopwatch.longest { await substitutions.prepareTraits(of: asset) }
        #expect(longest < 0.1)

        let changes = asset.playlistChanges
        _ = try await fixture.library.playlists.source(of: asset.renditions[7], in: asset)
        #expect(asset.playlistChanges > changes)
        longest = await LoopStopwatch.longest { #expect(substitutions.traits(of: asset)?[7] != nil) }
        #expect(longest < 0.02)
    }

    @Test("After a restart, one look at the bundle shows which folders exist")
    func folders() async throws {
        let fixture = try await TestHouse(.origin(try fixture()))
        let opened = try await fixture.open("/wide.m3u8")
        try await fixture.fetch(opened.renditions[7].name.id, of: opened)
        let bytes = opened.bytes
        #expect(bytes > 0)
        await fixture.flush()
        try await fixture.restart()

        let asset = try #require(fixture.library.assets.first)
        await fixture.library.wake(asset)
        #expect(asset.renditions.filter { $0.folder.known?.isEmpty ?? false }.count == 9_999)
        asset.forEachFolder { $0.reread() }
        var longest = await LoopStopwatch.longest { #expect(asset.bytes == bytes) }
        #expect(longest < 0.1)
        longest = await LoopStopwatch.longest { #expect(asset.bytesByName == bytes) }
        #expect(longest < 0.05)

        // A folder that did not exist is found when a piece is stored in it.
        _ = try await fixture.library.playlists.source(of: asset.renditions[8], in: asset)
        try await fixture.fetch(asset.renditions[8].name.id, of: asset)
        asset.forEachFolder { $0.reread() }
        #expect(asset.bytes == 2 * bytes)
    }

    @Test("A stored piece is compared with its own rendition alone")
    func gainedPiece() async throws {
        let fixture = try await TestHouse(.origin(try fixture()))
        let asset = try await fixture.open("/wide.m3u8")
        let rendition = asset.renditions[7]
        _ = try await fixture.library.playlists.source(of: rendition, in: asset)
        #expect(!rendition.isComplete)
        let longest = await LoopStopwatch.longest {
            for _ in 0..<20 {
                asset.folder(rendition.folder, gained: "0.ts")
            }
        }
        #expect(longest < 0.02)
    }

    @Test("Candidates are made in slices, between which others have the loop")
    func candidates() async throws {
        let fixture = try await TestHouse()
        let asset = try await fixture.open("/ts/master.m3u8")
        for id in ["video-90p", "video-180p", "video-270p"] {
            _ = try await fixture.rendition(id, of: asset)
        }
        let other = Task { @LoopActor in !Task.isCancelled }
        var slice = LoopSlice()
        // The first slice is over.
        let begun = ContinuousClock.now
        while ContinuousClock.now - begun < .milliseconds(6) {}
        await fixture.substitutions.prepareCandidates(of: asset, &slice)
        other.cancel()
        #expect(await other.value, "the other work waited for all candidates")
    }
}
