import EventLoop
import Foundation
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Playback

/// Playback of an asset without complete renditions and without its origin.
@Suite @LoopActor struct PartTests {
    /// Plays segments of the entry's rendition `index`, and returns the URLs in its playlist.
    @discardableResult private func watch(
        _ fixture: TestHouse, _ entry: String, _ index: Int = 0, _ places: [Int]
    ) async throws -> [String] {
        let paths = try await fixture.media(entry, index)
        let segments = paths.filter { !$0.contains("init") }
        for path in paths.filter({ $0.contains("init") }) + places.map({ segments[$0] }) {
            #expect(try await fixture.get(path).status == 200)
        }
        return paths
    }

    /// The files that a playlist names.
    private func files(_ text: String) -> [String] {
        PlaylistText.paths(in: text, at: "/").compactMap { $0.split(separator: "/").last.map(String.init) }
    }

    @Test func storedSegmentsAreListedInOrder() async throws {
        let fixture = try await TestHouse(.playback())
        try await watch(fixture, fixture.typed("/ts/master.m3u8"), 0, [1])
        try await watch(fixture, fixture.typed("/ts/master.m3u8"), 1, [1, 2, 4])
        try await fixture.origin.clearRequests()
        let entry = try await fixture.entry("/offline/ts.m3u8")
        #expect(entry.count == 1)
        let text = try await fixture.get(entry[0]).text
        #expect(files(text) == ["1.ts", "2.ts", "4.ts"])
        #expect(text.contains("2.ts\n#EXT-X-DISCONTINUITY\n#EXTINF:2.000000,\n"))
        #expect(text.contains("#EXT-X-PLAYLIST-TYPE:VOD\n") && text.hasSuffix("#EXT-X-ENDLIST\n"))
        for path in PlaylistText.paths(in: text, at: entry[0]) {
            #expect(try await fixture.get(path).status == 200)
        }
        #expect(try await fixture.origin.requests().isEmpty)
    }

    @Test func audioIsCutWithTheVideoAndFragmentsHaveNoDiscontinuity() async throws {
        let fixture = try await TestHouse(.playback())
        let master = fixture.typed("/cmaf/master.m3u8")
        let lists = try await fixture.entry(master)
        let picture = try #require(lists.firstIndex { $0.contains("/video-180p/") })
        let sound = try #require(lists.firstIndex { $0.contains("/audio-fr/") })
        try await watch(fixture, master, picture, [0, 1, 4, 5, 6, 7, 8])
        try await watch(fixture, master, sound, [0, 1, 2, 3, 4, 5, 6])
        // The sound is complete now, and is compared with the origin's.
        let asset = try #require(fixture.library.asset(named: "cmaf"))
        try await waitUntil("the comparison") {
            let isComplete = asset.renditions.contains { $0.isComplete }
            return isComplete && !fixture.library.revisionChecks.hasUncompared(asset)
        }
        try await fixture.origin.clearRequests()
        let entry = try await fixture.entry("/offline/cmaf.m3u8")
        #expect(entry.map { $0.split(separator: "/")[3] } == ["audio-fr", "video-180p"])
        let texts = [try await fixture.get(entry[0]).text, try await fixture.get(entry[1]).text]
        // The last second has the beginning of a longer segment of sound.
        #expect(files(texts[0]) == ["init-0.mp4", "0.m4s", "2.m4s", "3.m4s", "4.m4s"])
        #expect(files(texts[1]) == ["init-0.mp4", "0.m4s", "1.m4s", "4.m4s", "5.m4s", "6.m4s", "7.m4s", "8.m4s"])
        #expect(!texts.contains { $0.contains("DISCONTINUITY") })
        // The sound is complete, and so compared with the origin's once more.
        let requests = try await fixture.origin.requests().filter { !$0.isComparison }
        #expect(requests.isEmpty, "\(requests.map(\.path))")
    }

    @Test func aSegmentWithoutItsKeyIsNotListed() async throws {
        let fixture = try await TestHouse(.playback())
        let master = fixture.typed("/aes/master.m3u8")
        let paths = try await fixture.media(master, 0)
        for path in paths where path.hasSuffix(".ts") {
            #expect(try await fixture.get(path).status == 200)
        }
        #expect(try await fixture.get("/offline/aes.m3u8").status == 404)
        let keys = paths.filter { $0.hasSuffix(".key") }
        for key in keys where key != keys[0] {
            #expect(try await fixture.get(key).status == 200)
        }
        let text = try await fixture.get(fixture.entry("/offline/aes.m3u8")[0]).text
        #expect(files(text).filter { $0.hasSuffix(".ts") } == ["2.ts", "3.ts", "4.ts", "5.ts"])
    }

    @Test func anUnplayableAssetIsReportedWithItsStoredTime() async throws {
        let fixture = try await TestHouse(.playback())
        try await watch(fixture, fixture.typed("/ts/master.m3u8"), 0, [3])
        let answer = try await fixture.get("/offline/ts.m3u8")
        #expect(answer.status == 404)
        #expect(answer.text.contains("only 2 s can be played") && answer.text.contains("weir get"), "\(answer.text)")
    }

    @Test func anAbsentOriginGivesAnOfflineSession() async throws {
        let fixture = try await TestHouse(.playback())
        let online = try await watch(fixture, fixture.typed("/ts/master.m3u8"), 2, [0, 1])
        #expect(online.count == 6)
        try await fixture.stopOrigin()
        for entry in ["/ts.m3u8", fixture.typed("/ts/master.m3u8"), "/local/ts.m3u8"] {
            let paths = try await fixture.media(entry)
            #expect(paths.map { $0.split(separator: "/").last } == ["0.ts", "1.ts"])
            #expect(paths.allSatisfy { $0.split(separator: "/")[2].hasPrefix("o") })
        }
    }

    @Test func aSilentOriginGivesASessionThatContinues() async throws {
        let fixture = try await TestHouse(.playback())
        try await watch(fixture, fixture.typed("/ts/master.m3u8"), 2, [0, 1])
        fixture.library.asset(named: "ts")?.entryChecks.latest = nil
        try await fixture.origin.add(OriginRule("*") { $0.hold = true })
        for entry in ["/ts.m3u8", "/auto/ts.m3u8", fixture.typed("/ts/master.m3u8")] {
            let lists = try await fixture.entry(entry)
            #expect(lists.map { $0.split(separator: "/")[3] } == ["video-270p"])
            let paths = try await fixture.paths(at: lists[0])
            #expect(paths.count == 6)
            for path in paths[..<2] {
                #expect(try await fixture.get(path).status == 200)
            }
        }
        // It was only slow.
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        let path = try await fixture.media("/ts.m3u8")[2]
        #expect(try await fixture.get(path).status == 200)
    }

    @Test func aPresentOriginListsEverything() async throws {
        let fixture = try await TestHouse(.playback())
        try await watch(fixture, fixture.typed("/ts/master.m3u8"), 0, [0, 1])
        #expect(try await fixture.entry("/ts.m3u8").count == 3)
        #expect(try await fixture.media("/ts.m3u8", 0).count == 6)
        #expect(try await fixture.media("/local/ts.m3u8", 0).count == 6)
    }

    @Test func completeVariantsAreListedAlone() async throws {
        let fixture = try await TestHouse(.playback())
        try await watch(fixture, fixture.typed("/ts/master.m3u8"), 0, [0, 1, 2, 3, 4, 5])
        try await watch(fixture, fixture.typed("/ts/master.m3u8"), 1, [0, 2, 3])
        let entry = try await fixture.entry("/offline/ts.m3u8")
        #expect(entry.count == 1 && entry[0].contains("/video-90p/"))
        #expect(try await fixture.media("/offline/ts.m3u8").count == 6)
        // A request for the other variant by its name gets its stored segments.
        let other = try await fixture.get(entry[0].replacing("/video-90p/", with: "/video-180p/")).text
        #expect(files(other) == ["0.ts", "2.ts", "3.ts"])
    }

    @Test func aSessionKeepsItsCuts() async throws {
        let fixture = try await TestHouse(.playback())
        let master = fixture.typed("/ts/master.m3u8")
        try await watch(fixture, master, 0, [0, 1, 4])
        let entry = try await fixture.entry("/offline/ts.m3u8")[0]
        try await watch(fixture, master, 0, [2])
        #expect(files(try await fixture.get(entry).text) == ["0.ts", "1.ts", "4.ts"])
        #expect(try await fixture.media("/offline/ts.m3u8").count == 4)
    }

    @Test func aLoneMediaPlaylistIsCut() async throws {
        let fixture = try await TestHouse(.playback())
        let segments = try await fixture.entry(fixture.typed("/ts/90p/media.m3u8"))
        for place in [2, 3, 4] {
            #expect(try await fixture.get(segments[place]).status == 200)
        }
        let name = try #require(fixture.library.assets.first).name
        let text = try await fixture.get("/offline/\(name).m3u8").text
        #expect(files(text) == ["2.ts", "3.ts", "4.ts"])
        #expect(!text.contains("DISCONTINUITY"))
    }

    // MARK: An entry that the origin does not deliver

    /// The forms of an entry: by name, by URL, in the quality that Weir chooses, and only what is stored.
    private func forms(_ fixture: TestHouse, _ path: String, name: String) -> [String] {
        let url = fixture.typed(path)
        return ["/\(name).m3u8", url, "/auto" + url, "/local" + url, "/select/subs=none" + url]
    }

    @Test(arguments: [403, 404, 410, 500, 503])
    func anEntryThatFailsStartsTheSessionOnWhatIsStored(_ status: Int) async throws {
        let fixture = try await TestHouse(.playback())
        try await watch(fixture, fixture.typed("/ts/master.m3u8"), 2, [0, 1])
        let asset = try #require(fixture.library.asset(named: "ts"))
        try await fixture.origin.add(OriginRule("/ts/master.m3u8*") { $0.status = status })
        for entry in forms(fixture, "/ts/master.m3u8", name: "ts") {
            asset.entryChecks.latest = nil
            try await fixture.origin.clearRequests()
            let lists = try await fixture.entry(entry)
            #expect(lists.map { $0.split(separator: "/")[3] } == ["video-270p"], "\(entry)")
            // The holes are left out: the origin has answered.
            let paths = try await fixture.paths(at: lists[0])
            #expect(paths.map { $0.split(separator: "/").last } == ["0.ts", "1.ts"], "\(entry)")
            for path in paths {
                #expect(try await fixture.get(path).status == 200)
            }
            let requests = try await fixture.origin.requests().filter { !$0.isComparison }
            #expect(requests.map(\.path) == ["/ts/master.m3u8"], "\(entry)")
        }
        // mpv loads an entry twice.
        try await fixture.origin.clearRequests()
        #expect(try await fixture.entry("/ts.m3u8").count == 1)
        #expect(try await fixture.origin.requests().isEmpty)
    }

    @Test func aPageOrALoneMediaPlaylistThatFailsAreNoDifferent() async throws {
        let fixture = try await TestHouse(.playback())
        let segments = try await fixture.entry(fixture.typed("/ts/90p/media.m3u8"))
        for place in [0, 1, 2] {
            #expect(try await fixture.get(segments[place]).status == 200)
        }
        let asset = try #require(fixture.library.assets.first)
        for change: @Sendable (inout OriginRule) -> Void in [{ $0.html = true }, { $0.status = 500 }] {
            try await fixture.origin.replaceRules(with: OriginRule("*.m3u8*", change))
            for entry in forms(fixture, "/ts/90p/media.m3u8", name: asset.name) {
                asset.entryChecks.latest = nil
                let text = try await fixture.get(entry).text
                #expect(files(text) == ["0.ts", "1.ts", "2.ts"], "\(entry): \(text)")
            }
        }
    }

    @Test func whereTooLittleIsStoredAnEntryIsAskedForAgain() async throws {
        let fixture = try await TestHouse(.playback())
        try await watch(fixture, fixture.typed("/ts/master.m3u8"), 2, [0])
        let asset = try #require(fixture.library.asset(named: "ts"))
        asset.entryChecks.latest = nil
        try await fixture.origin.add(OriginRule("/ts/master.m3u8") { ($0.status, $0.times) = (503, 1) })
        #expect(try await fixture.entry("/ts.m3u8").count == 3)
        asset.entryChecks.latest = nil
        try await fixture.origin.clearRequests()
        try await fixture.origin.add(OriginRule("/ts/master.m3u8") { $0.status = 404 })
        #expect(try await fixture.get("/ts.m3u8").status == 404)
        #expect(try await fixture.origin.requests().count == 1)
    }

    @Test func aChoiceIsMadeBeforeThePartIsChosen() async throws {
        let fixture = try await TestHouse(.playback())
        let master = fixture.typed("/ts/master.m3u8")
        try await watch(fixture, master, 0, [0, 1, 2, 3])
        try await watch(fixture, master, 2, [0, 1])
        let lists = try await fixture.entry("/select/quality=270p/offline/ts.m3u8")
        #expect(lists.map { $0.split(separator: "/")[3] } == ["video-270p"])
        #expect(try await fixture.paths(at: lists[0]).count == 2)
        #expect(try await fixture.get("/select/quality=180p/offline/ts.m3u8").status == 404)
    }
}
