import EventLoop
import Foundation
import HLS
import HTTPMessage
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

/// One rendition at two mirrors, `/a/…` and `/b/…`.
@Suite @LoopActor struct MirrorTests {
    private func start(_ name: String = "ts") async throws -> (TestHouse, Asset) {
        let fixture = try await TestHouse(.origin(MirroredFixture.folder(name)))
        return (fixture, try await fixture.open("/master.m3u8"))
    }

    /// The requested paths, without the entry playlist and without comparisons.
    private func paths(_ fixture: TestHouse) async throws -> [String] {
        let requests = try await fixture.origin.requests().filter { !$0.isComparison }
        return requests.map(\.path).filter { $0 != "/master.m3u8" }
    }

    @Test func mirrorsAreOneRenditionInOneFolder() async throws {
        let (fixture, asset) = try await start()
        #expect(asset.renditions.map(\.name.id) == ["video-90p", "video-180p", "video-270p"])
        try await fixture.fetch("video-90p", of: asset)
        #expect(try await paths(fixture).allSatisfy { $0.hasPrefix("/a/90p/") })
        #expect(asset.content.completeRenditions == [0])
    }

    @Test(arguments: [404, 403, 410, 500, 503, 0])
    func aPlaylistComesFromTheMirrorThatAnswers(_ status: Int) async throws {
        let (fixture, asset) = try await start()
        try await fixture.origin.add(
            OriginRule("/a/*") { if status > 0 { $0.status = status } else { $0.resetAfter = -1 } })
        try await fixture.fetch("video-90p", of: asset)
        #expect(asset.content.completeRenditions == [0])
        // The rest comes from the mirror that served the playlist.
        #expect(try await fixture.mediaRequests().allSatisfy { $0.hasPrefix("/b/90p/") })
    }

    @Test func aPlaylistMissingAtAllMirrorsIsReportedWithTheFirstReason() async throws {
        let (fixture, asset) = try await start()
        try await fixture.origin.add(OriginRule("/a/*") { $0.status = 403 }, OriginRule("/b/*") { $0.status = 404 })
        #expect(await code { _ = try await fixture.rendition("video-90p", of: asset) } == .originRefused)
    }

    /// A playlist may name thousands of mirrors.
    @Test func oneLoadAsksEightMirrors() async throws {
        let folder = try TemporaryFolder()
        let lines = (0..<20).map { "#EXT-X-STREAM-INF:BANDWIDTH=1000,PATHWAY-ID=\"p\($0)\"\nm\($0)/media.m3u8\n" }
        let steering = "#EXT-X-CONTENT-STEERING:SERVER-URI=\"steering.json\",PATHWAY-ID=\"p0\"\n"
        try folder.write(Data(("#EXTM3U\n" + steering + lines.joined()).utf8), to: "master.m3u8")
        let fixture = try await TestHouse(.origin(folder))
        let asset = try await fixture.open("/master.m3u8")
        let id = try #require(asset.renditions.first?.name.id)
        #expect(asset.renditions.count == 1)
        #expect(await code { _ = try await fixture.rendition(id, of: asset) } == .badOrigin)
        #expect(try await paths(fixture) == (0..<8).map { "/m\($0)/media.m3u8" })
        // The next load goes on with the others.
        #expect(await code { _ = try await fixture.rendition(id, of: asset) } == .badOrigin)
        #expect(try await paths(fixture).dropFirst(8) == (8..<16).map { "/m\($0)/media.m3u8" }[...])
    }

    @Test func moreMirrorsAreAskedWithGrowingPausesAsLongAsSomebodyWaits() async {
        let pauses = (1...20).map { MirrorPace.pause(before: $0).components.seconds }
        #expect(pauses == [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60])
        let pace = MirrorPace()
        for _ in 2...8 {
            #expect(await pace.mayVisit(while: { true }))
        }
        var checks = 0
        let mayVisit = await pace.mayVisit {
            checks += 1
            return checks < 2
        }
        #expect(!mayVisit)
    }

    @Test(arguments: [404, 403, 500, 0])
    func aSegmentComesFromTheMirrorThatHasIt(_ status: Int) async throws {
        let (fixture, asset) = try await start()
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fixture.origin.add(
            OriginRule("/a/90p/*.ts") { if status > 0 { $0.status = status } else { $0.resetAfter = -1 } })
        let fetches = try (0..<6).map { try fixture.fetch($0, of: rendition, in: asset) }
        for (number, fetch) in fetches.enumerated() {
            try await fetch.end()
            #expect(fetch.bytes == Array(try Repository.fixture("/ts/90p/\(number).ts")))
        }
        #expect(rendition.isComplete)
        let asked = try await paths(fixture)
        #expect(asked.count { $0 == "/b/90p/media.m3u8" } == 1)
        #expect(asked.count { $0.hasPrefix("/b/") && $0.hasSuffix(".ts") } == 6)
    }

    @Test func aCutSegmentIsResumedFromAMirrorInTheSameResponse() async throws {
        let (fixture, asset) = try await start()
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fixture.origin.add(
            OriginRule("/a/90p/0.ts") { ($0.resetAfter, $0.times) = (3000, 1) },
            OriginRule("/a/90p/0.ts") { $0.status = 404 })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.announced()
        try await fetch.end()
        #expect(fetch.bytes == Array(try Repository.fixture("/ts/90p/0.ts")))
        #expect(fetch.isPiece)
    }

    @Test func otherContentAtAMirrorIsNotAppended() async throws {
        let (fixture, asset) = try await start()
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let other = try Repository.fixture("/ts/90p/1.ts")
        let root = (fixture.origin.root as NSString).appendingPathComponent("b/90p/0.ts")
        try other.write(to: URL(fileURLWithPath: root))
        try await fixture.origin.add(
            OriginRule("/a/90p/0.ts") { ($0.resetAfter, $0.times) = (3000, 1) },
            OriginRule("/a/90p/0.ts") { $0.status = 404 })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        #expect(await fetch.result().code == .badOrigin)
        #expect(rendition.folder.sizes.isEmpty)
    }

    @Test func keysAndInitializationSectionsComeFromMirrorsToo() async throws {
        for name in ["aes", "cmaf"] {
            let (fixture, asset) = try await start(name)
            let rendition = try await fixture.rendition("video-180p", of: asset)
            try await fixture.origin.add(
                OriginRule("/a/*.m4s") { $0.status = 404 }, OriginRule("/a/*.mp4") { $0.status = 404 },
                OriginRule("/a/*.key") { $0.status = 404 }, OriginRule("/a/*.ts") { $0.status = 404 })
            try await fixture.fetch("video-180p", of: asset)
            #expect(rendition.isComplete)
            #expect(asset.keys.folder.sizes.count == (name == "aes" ? 3 : 0))
            try await fixture.restart(.offline)
            #expect(fixture.library.assets.first?.renditions.filter(\.isComplete).map(\.name.id) == ["video-180p"])
        }
    }

    @Test func aMirrorThatDoesNotMatchIsNotUsed() async throws {
        let (fixture, asset) = try await start()
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let text = String(decoding: try Repository.fixture("/ts/90p/media.m3u8"), as: UTF8.self)
        try await fixture.origin.add(
            OriginRule("/a/90p/*.ts") { $0.status = 404 },
            OriginRule("/b/90p/media.m3u8") {
                ($0.status, $0.body) = (200, text.replacing("2.000000", with: "1.900000"))
            })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        #expect(await fetch.result().code == .missing)
        #expect(try await paths(fixture).contains("/b/90p/media.m3u8"))
        #expect(try await !paths(fixture).contains("/b/90p/0.ts"))
    }

    @Test func aSilentMirrorLeavesTimeForTheNext() async throws {
        let (fixture, asset) = try await start()
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fixture.origin.add(OriginRule("/a/90p/*.ts") { $0.hold = true })
        let began = ContinuousClock.now
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await fetch.end()
        #expect(ContinuousClock.now - began < .seconds(7))
        #expect(fetch.isPiece)
    }

    @Test func aPlayerThatJoinsADownloadDoesNotWaitForASilentMirrorEither() async throws {
        let (fixture, asset) = try await start()
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fixture.origin.add(OriginRule("/a/90p/*.ts") { $0.hold = true })
        let fetch = try fixture.fetch(0, of: rendition, in: asset, urgency: .background)
        try await waitUntil("the request") { try await paths(fixture).contains("/a/90p/0.ts") }
        let began = ContinuousClock.now
        #expect(try fixture.fetch(0, of: rendition, in: asset) === fetch)
        try await fetch.end()
        #expect(ContinuousClock.now - began < .seconds(8))
        #expect(fetch.isPiece)
    }

    @Test func aFetchTakesTheMirrorThatAnotherOneFoundMeanwhile() async throws {
        let (fixture, asset) = try await start()
        let rendition = try await fixture.rendition("video-90p", of: asset)
        let known = try await paths(fixture).count { $0 == "/a/90p/media.m3u8" }
        try await fixture.origin.add(
            OriginRule("/a/90p/*.ts") { $0.status = 404 },
            OriginRule("/a/90p/media.m3u8") { ($0.hold, $0.status) = (true, 404) })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await waitUntil("the renewal") {
            try await paths(fixture).count { $0 == "/a/90p/media.m3u8" } > known
        }
        let name = try fixture.resource(0, of: rendition).name
        #expect(await fixture.library.playlists.visit(1, of: rendition, in: asset, for: name)?.mirror == 1)
        try await fixture.origin.add(OriginRule("/b/90p/media.m3u8") { $0.status = 404 })
        try await fixture.origin.release()
        try await fetch.end()
        #expect(fetch.isPiece)
    }

    @Test func aLeavingReaderStopsTheSearchForAnAlternateSource() async throws {
        let (fixture, asset) = try await start()
        let rendition = try await fixture.rendition("video-90p", of: asset)
        try await fixture.origin.add(
            OriginRule("/a/90p/*.ts") { $0.status = 404 }, OriginRule("/b/90p/media.m3u8") { $0.hold = true })
        let fetch = try fixture.fetch(0, of: rendition, in: asset)
        try await waitUntil("the search") { try await paths(fixture).contains("/b/90p/media.m3u8") }
        fetch.release()
        try await fixture.origin.release()
        #expect(await fetch.result().code != nil)
        #expect(try await !paths(fixture).contains("/b/90p/0.ts"))
    }

    // MARK: Lines with equal attributes on one host

    private func startOnOneHost(_ name: String, _ folders: [String]) async throws -> (TestHouse, Asset, Rendition) {
        let fixture = try await TestHouse(.origin(MirroredFixture.folder(name)))
        let lines = folders.map { "#EXT-X-STREAM-INF:BANDWIDTH=1\n/\($0)/media.m3u8\n" }
        try await fixture.origin.add(
            OriginRule("/same.m3u8") { ($0.status, $0.body) = (200, "#EXTM3U\n" + lines.joined()) })
        let asset = try await fixture.open("/same.m3u8")
        #expect(asset.renditions.count == folders.count)
        return (fixture, asset, asset.renditions[0])
    }

    @Test(arguments: [
        ("ts", "90p", [1, 4], [3]), ("ts", "90p", [0, 1, 2, 3, 4, 5], []), ("cmaf", "video-90p", [2], [4]),
    ])
    func aMirrorOnTheSameHostGivesWhatTheFirstLacks(
        name: String, folder: String, lostThere: [Int], lostHere: [Int]
    ) async throws {
        let (fixture, asset, rendition) = try await startOnOneHost(name, ["a/\(folder)", "b/\(folder)"])
        let kind = name == "ts" ? "ts" : "m4s"
        let lost =
            lostThere.map { "/a/\(folder)/\($0).\(kind)" } + lostHere.map { "/b/\(folder)/\($0).\(kind)" }
        for path in lost {
            try await fixture.origin.add(OriginRule(path) { $0.status = 404 })
        }
        try await fixture.fetch(rendition.name.id, of: asset)
        #expect(rendition.isComplete)
        for number in 0..<6 {
            let stored = rendition.folder.beginning(of: "\(number).\(kind)", count: 1 << 20)
            #expect(stored == Array(try Repository.fixture("/\(name)/\(folder)/\(number).\(kind)")), "\(number)")
        }
    }

    @Test func aMirrorOnTheSameHostAnswersForADeadPlaylist() async throws {
        let (fixture, asset, rendition) = try await startOnOneHost("ts", ["a/90p", "b/90p"])
        try await fixture.origin.add(OriginRule("/a/90p/*") { $0.status = 404 })
        try await fixture.fetch(rendition.name.id, of: asset)
        #expect(rendition.isComplete)
    }

    /// Equal attributes and durations, but different qualities.
    @Test(arguments: [("ts", "90p", "180p", "ts"), ("cmaf", "video-90p", "video-180p", "m4s")])
    func anotherQualityWithEqualAttributesIsNoMirror(name: String, own: String, other: String, kind: String)
        async throws
    {
        let (fixture, asset, rendition) = try await startOnOneHost(name, ["a/\(own)", "a/\(other)"])
        try await fixture.origin.add(OriginRule("/a/\(own)/3.\(kind)") { $0.status = 404 })
        _ = try await fixture.rendition(rendition.name.id, of: asset)
        for (folder, resource) in rendition.preliminaries {
            let fetch = try fixture.library.fetch(resource, in: folder, of: asset, urgency: .playback)
            try await fetch.end()
        }
        try await fixture.fetch(0, of: rendition, in: asset).end()
        let fetch = try fixture.fetch(3, of: rendition, in: asset)
        #expect(await fetch.result().code == .missing)
        #expect(!rendition.folder.contains("3.\(kind)"))
        // It is looked at, and not used for anything else either.
        try await fixture.fetch(1, of: rendition, in: asset).end()
        let stored = rendition.folder.beginning(of: "1.\(kind)", count: 1 << 20)
        #expect(stored == Array(try Repository.fixture("/\(name)/\(own)/1.\(kind)")))
    }

    @Test func aLiveStreamContinuesFromAMirrorInStep() async throws {
        let fixture = try await TestHouse()
        let lines = ["x", "y"].map { name in
            "#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID=\"\(name)\"\n/_live/\(name)/media.m3u8\n"
        }
        try await fixture.origin.add(
            OriginRule("/master.m3u8") { ($0.status, $0.body) = (200, "#EXTM3U\n" + lines.joined()) })
        let asset = try await fixture.open("/master.m3u8")
        #expect(asset.renditions.count == 1)
        let rendition = try await fixture.rendition("video", of: asset)
        let first = try #require(rendition.source)
        try await fixture.origin.add(OriginRule("/_live/x/*") { $0.status = 404 })
        let fetch = try fixture.fetch(Int(first.playlist.mediaSequence), of: rendition, in: asset)
        try await fetch.end()
        for name in ["x", "y"] {
            try await fixture.origin.advance(name)
        }
        try await waitUntil("the next window") { @LoopActor in
            let source = try await fixture.library.playlists.source(of: rendition, in: asset)
            return source.playlist.mediaSequence == first.playlist.mediaSequence + 1
        }
        #expect(rendition.source?.base.path == "/_live/y/media.m3u8")
        #expect(rendition.folder.sizes.isEmpty)
    }
}
