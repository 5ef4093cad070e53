import EventLoop
import Foundation
import Glibc
import HLS
import HTTPMessage
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// A rendition with given playlist texts. Nothing is fetched.
@LoopActor struct RenditionFixture {
    let folder: TemporaryFolder
    let store: BundleStore
    let asset: Asset
    let rendition: Rendition

    init(_ content: PieceName.Content = .media) throws {
        folder = try TemporaryFolder()
        store = try BundleStore(path: folder.path)
        asset = Asset(
            id: "a-id", name: "a", title: nil, origin: try WebURL("http://o/a/master.m3u8"), created: 1, store: store)
        let name = RenditionNaming.Name(id: "video", content: content, isIFramesOnly: false)
        rendition = Rendition(name, bundle: asset.bundle, keys: asset.keys)
    }

    func adopt(_ lines: String..., base: String = "http://o/a/v/media.m3u8") throws {
        rendition.adopt(try Self.source(lines.joined(separator: "\n"), base: base))
    }

    static func source(_ lines: String, base: String) throws -> Rendition.Source {
        guard case .media(let playlist) = try Playlist.parse(Array("#EXTM3U\n\(lines)\n".utf8)) else {
            throw TimedOut("a media playlist")
        }
        return Rendition.Source(playlist: playlist, base: try WebURL(base))
    }

    func put(_ file: String, in folder: PieceFolder) throws {
        try store.bundle("a-id", create: true).subdirectory(folder.id, create: true).write([1], as: file)
        folder.reread()
    }

    func resource(_ name: String) -> Resource? { PieceName(name).flatMap { rendition.resource(named: $0) } }
}

@Suite @LoopActor struct RenditionTests {
    @Test func aNameLeadsToItsSegment() throws {
        let fixture = try RenditionFixture()
        try fixture.adopt(
            "#EXT-X-MEDIA-SEQUENCE:7", "#EXTINF:2,", "a.ts?token=1", "#EXTINF:2,", "http://cdn/b.jpg",
            "#EXT-X-GAP", "#EXTINF:2,", "c.ts", "#EXTINF:2,", "/d.ts", "#EXT-X-ENDLIST")
        #expect(fixture.resource("7.ts")?.url.text == "http://o/a/v/a.ts?token=1")
        #expect(fixture.resource("8.ts")?.url.text == "http://cdn/b.jpg")
        #expect(fixture.resource("10.ts")?.url.text == "http://o/d.ts")
        #expect(fixture.resource("7.ts")?.range == nil)
        for absent in ["6.ts", "9.ts", "11.ts", "7.m4s", "8.jpg", "init-0.mp4", "7.key", "9223372036854775807.ts"] {
            #expect(fixture.resource(absent) == nil, "\(absent)")
        }
    }

    @Test func aByteRangeIsAResource() throws {
        let fixture = try RenditionFixture()
        try fixture.adopt(
            "#EXT-X-MAP:URI=\"all.mp4\",BYTERANGE=\"100@0\"", "#EXTINF:2,", "#EXT-X-BYTERANGE:50@100", "all.mp4",
            "#EXTINF:2,", "#EXT-X-BYTERANGE:25", "all.mp4", "#EXT-X-ENDLIST")
        #expect(fixture.resource("init-0.mp4")?.range == 0..<100)
        #expect(fixture.resource("0.mp4")?.range == 100..<150)
        #expect(fixture.resource("1.mp4")?.range == 150..<175)
        #expect(fixture.resource("1.mp4")?.exactLength == 25)
    }

    @Test func renditionsShareTheNumbersOfKeys() throws {
        let fixture = try RenditionFixture()
        try fixture.adopt(
            "#EXT-X-KEY:METHOD=AES-128,URI=\"k1\"", "#EXTINF:2,", "0.ts", "#EXT-X-KEY:METHOD=AES-128,URI=\"k2\"",
            "#EXTINF:2,", "1.ts", "#EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT=\"com.apple\",URI=\"skd://x\"",
            "#EXT-X-KEY:METHOD=AES-128,URI=\"data:text/plain;base64,AAAA\"", "#EXTINF:2,", "2.ts", "#EXT-X-ENDLIST")
        let other = Rendition(
            .init(id: "other", content: .media, isIFramesOnly: false), bundle: fixture.asset.bundle,
            keys: fixture.asset.keys)
        other.adopt(
            try RenditionFixture.source(
                "#EXT-X-KEY:METHOD=AES-128,URI=\"../v/k2\"\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST",
                base: "http://o/a/w/media.m3u8"))
        let keys = try #require(fixture.rendition.source?.playlist.keys)
        #expect(keys.map { fixture.rendition.number(of: $0) } == [0, 1, nil, nil])
        #expect(other.source?.playlist.keys.map { other.number(of: $0) } == [1])
        #expect(fixture.asset.keys.resource(1)?.url.text == "http://o/a/v/k2")
        #expect(fixture.asset.keys.resource(2) == nil)
        #expect(fixture.rendition.needsDRM)
        #expect(!other.needsDRM)
    }

    @Test func aRenditionIsCompleteWithSegmentsSectionsAndKeys() throws {
        let fixture = try RenditionFixture()
        try fixture.adopt(
            "#EXT-X-MAP:URI=\"i.mp4\"", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"", "#EXTINF:2,", "0.m4s", "#EXT-X-GAP",
            "#EXTINF:2,", "1.m4s", "#EXTINF:2,", "2.m4s", "#EXT-X-ENDLIST")
        #expect(!fixture.rendition.isComplete)
        for name in ["0.m4s", "2.m4s", "init-0.mp4"] {
            try fixture.put(name, in: fixture.rendition.folder)
            #expect(!fixture.rendition.isComplete)
        }
        try fixture.put("0.key", in: fixture.asset.keys.folder)
        #expect(fixture.rendition.isComplete)
        #expect(fixture.rendition.preliminaries.map(\.resource.name.description) == ["0.key", "init-0.mp4"])

        try FileManager.default.removeItem(atPath: fixture.folder.path("assets/a-id/video/2.m4s"))
        #expect(fixture.rendition.folder.open("2.m4s") == nil)
        #expect(!fixture.rendition.isComplete)
    }

    @Test func aLivePlaylistIsNeverComplete() throws {
        let fixture = try RenditionFixture()
        try fixture.adopt("#EXT-X-TARGETDURATION:2", "#EXTINF:2,", "0.ts")
        try fixture.put("0.ts", in: fixture.rendition.folder)
        #expect(!fixture.rendition.isComplete)
    }

    @Test func aSegmentPastTheLiveWindowIsFoundForAWhile() throws {
        let fixture = try RenditionFixture()
        for first in 0..<40 {
            let segments = (first..<first + 3).map { "#EXTINF:2,\n\($0).ts" }.joined(separator: "\n")
            try fixture.adopt("#EXT-X-MEDIA-SEQUENCE:\(first)", segments)
        }
        #expect(fixture.resource("41.ts")?.url.text == "http://o/a/v/41.ts")
        #expect(fixture.resource("36.ts")?.url.text == "http://o/a/v/36.ts")
        #expect(fixture.resource("3.ts") == nil)
    }

    @Test func aSectionKeepsItsNameWhileTheLiveWindowSlides() throws {
        let fixture = try RenditionFixture()
        try fixture.adopt(
            "#EXT-X-MAP:URI=\"film.mp4\"", "#EXTINF:2,", "0.m4s", "#EXT-X-DISCONTINUITY", "#EXT-X-MAP:URI=\"ad.mp4\"",
            "#EXTINF:2,", "1.m4s")
        #expect(fixture.resource("live-1.mp4")?.url.text == "http://o/a/v/ad.mp4")
        try fixture.adopt(
            "#EXT-X-MEDIA-SEQUENCE:1", "#EXT-X-MAP:URI=\"ad.mp4\"", "#EXTINF:2,", "1.m4s", "#EXT-X-DISCONTINUITY",
            "#EXT-X-MAP:URI=\"film.mp4\"", "#EXTINF:2,", "2.m4s")
        let maps = try #require(fixture.rendition.source?.playlist.maps)
        #expect(maps.map { fixture.rendition.name(of: $0).description } == ["live-1.mp4", "live-0.mp4"])
        #expect(fixture.resource("live-0.mp4")?.url.text == "http://o/a/v/film.mp4")
        #expect(fixture.resource("live-1.mp4")?.url.text == "http://o/a/v/ad.mp4")

        // Once the stream has ended, names are the positions, and names from earlier playlists still lead to the same
        // segments.
        try fixture.adopt(
            "#EXT-X-MEDIA-SEQUENCE:1", "#EXT-X-MAP:URI=\"ad.mp4\"", "#EXTINF:2,", "1.m4s", "#EXT-X-ENDLIST")
        #expect(fixture.resource("init-0.mp4")?.url.text == "http://o/a/v/ad.mp4")
        #expect(fixture.resource("live-0.mp4")?.url.text == "http://o/a/v/film.mp4")
        #expect(fixture.resource("live-1.mp4")?.url.text == "http://o/a/v/ad.mp4")
        let names = ["init-0.mp4", "1.m4s", "live-1.mp4", "0.m4s"].compactMap { PieceName($0) }
        #expect(names.map { fixture.rendition.isListed($0) } == [true, true, false, false])
    }
}

@Suite @LoopActor struct PieceFolderTests {
    @Test func onlyPiecesCount() throws {
        let fixture = try RenditionFixture()
        for file in ["0.ts", "init-0.mp4", "media.m3u8", "0.ts.new", "notes.txt"] {
            try fixture.put(file, in: fixture.rendition.folder)
        }
        #expect(fixture.rendition.folder.sizes == ["0.ts": 1, "init-0.mp4": 1])
        #expect(fixture.rendition.folder.bytes == 2)
    }

    @Test func aPieceCommittedBeforeTheFirstScanCountsOnce() throws {
        let fixture = try RenditionFixture()
        try fixture.put("0.ts", in: fixture.rendition.folder)
        let file = try fixture.store.growingFile(named: "1")
        try [UInt8](repeating: 7, count: 5).withUnsafeBytes { try file.write($0, at: 0) }
        try fixture.rendition.folder.commit(file, as: "1.ts")
        #expect(fixture.rendition.folder.sizes == ["0.ts": 1, "1.ts": 5])
    }

    @Test(arguments: ["assets/a-id", "assets/a-id/video"])
    func aFolderDeletedFromOutsideIsRecreated(_ path: String) throws {
        let fixture = try RenditionFixture()
        try fixture.put("0.ts", in: fixture.rendition.folder)
        #expect(fixture.rendition.folder.contains("0.ts"))
        let open = fixture.rendition.folder.open("0.ts")
        close(try #require(open))
        try FileManager.default.removeItem(atPath: fixture.folder.path(path))

        let file = try fixture.store.growingFile(named: "1")
        try [UInt8](repeating: 7, count: 5).withUnsafeBytes { try file.write($0, at: 0) }
        try fixture.rendition.folder.commit(file, as: "1.ts")
        #expect(fixture.rendition.folder.sizes == ["1.ts": 5])
        #expect(fixture.folder.files().contains("assets/a-id/video/1.ts"))
    }

    @Test func noWritesAfterTheRemovalOfABundle() throws {
        let fixture = try RenditionFixture()
        try fixture.put("0.ts", in: fixture.rendition.folder)
        close(try #require(fixture.rendition.folder.open("0.ts")))
        let file = try fixture.store.growingFile(named: "1")
        try [UInt8](repeating: 7, count: 5).withUnsafeBytes { try file.write($0, at: 0) }
        fixture.asset.bundle.forbidWrites()
        try fixture.store.removeBundle(fixture.asset.id)
        #expect(throws: StoreError.self) { try fixture.rendition.folder.commit(file, as: "1.ts") }
        #expect(!fixture.folder.files().contains { $0.hasPrefix("assets/") })
        #expect(fixture.rendition.folder.open("0.ts") == nil)
    }
}
