import AccessLog
import EventLoop
import Foundation
import Playheads
import SegmentFormat
import Sessions
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Playback

/// Substitution if the origin fails during a session.
@Suite @LoopActor struct StandInTests {
    @Test func substitutesWhenTheOriginBecomesAbsent() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5])])
        let paths = try await fixture.paths(fixture.typed("/ts/master.m3u8"), "video-270p")
        for place in [0, 1] {
            #expect([UInt8](try await fixture.get(paths[place]).body) == (try Spliced.bytes("ts/270p/\(place).ts")))
        }
        try await fixture.stopOrigin()
        for place in [2, 3] {
            let answer = try await fixture.get(paths[place])
            #expect(try answer.status == 200 && [UInt8](answer.body) == Spliced.transport("ts/180p/\(place).ts"))
            #expect(answer["cache-status"]?.hasPrefix("Weir; fwd=uri-miss; detail=\"video-180p stands in\"") == true)
        }
        try await waitUntil("the session's trail") {
            self.trail(fixture).last
                == PieceRun(
                    rendition: "video-270p", first: 2, last: 3, source: .store, substitute: "video-180p")
        }
        #expect(trail(fixture).first == PieceRun(rendition: "video-270p", first: 0, last: 1, source: .origin))
    }

    private func trail(_ fixture: TestHouse) -> [PieceRun] {
        fixture.library.playheads.catchUp()
        return fixture.playback.sessions.summaries.last?.pieces ?? []
    }

    @Test func substitutesASegmentThatTheOriginRefuses() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("cmaf", [("video-180p", Array(0..<12)), ("video-270p", [0, 1])])
        try await fixture.origin.add(OriginRule("/cmaf/video-270p/2.m4s") { $0.status = 404 })
        let paths = try await fixture.paths(fixture.typed("/cmaf/master.m3u8"), "video-270p")
        let body = [UInt8](try await fixture.get(paths[3]).body)
        #expect(body == (try Spliced.fragment("cmaf", 2, of: "video-180p", behind: "video-270p")))
        // The next segment from the origin must be complete before it is sent.
        let next = try await fixture.get(paths[4])
        #expect([UInt8](next.body) == (try Spliced.fragment("cmaf", 3, of: "video-270p", behind: "video-270p")))
        #expect(next["cache-status"] == "Weir; fwd=uri-miss; stored")
        #expect(
            [UInt8](try await fixture.get(paths[2]).body)
                == (try Spliced.fragment("cmaf", 1, of: "video-270p", behind: "video-270p")))
    }

    // MARK: Missing sound

    /// A presentation with the same sound in two groups: by other URLs, in one language or two.
    private func putSound(_ languages: (String, String), in fixture: TestHouse) async throws {
        let list = String(decoding: try Repository.fixture("/cmaf/audio-en/media.m3u8"), as: UTF8.self)
        let other = list.replacing(".m4s", with: ".m4s?other").replacing("init.mp4", with: "init.mp4?other")
        try await fixture.put("/cmaf/audio-en/other.m3u8", other)
        func media(_ group: String, _ language: String, _ uri: String) -> String {
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(group)\",NAME=\"a\",LANGUAGE=\"\(language)\",URI=\"audio-en/\(uri)\"\n"
        }
        func variant(_ group: String, _ size: String, _ bandwidth: Int) -> String {
            "#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth),CODECS=\"avc1.4d400c,mp4a.40.2\",AUDIO=\"\(group)\"\n"
                + "video-\(size)/media.m3u8\n"
        }
        try await fixture.put(
            "/cmaf/sound.m3u8",
            "#EXTM3U\n" + media("low", languages.0, "media.m3u8") + media("high", languages.1, "other.m3u8")
                + variant("low", "90p", 100_000) + variant("high", "270p", 300_000))
        // The file is missing at one of its two URLs.
        try await fixture.origin.add(OriginRule("/cmaf/audio-en/3.m4s") { $0.status = 404 })
    }

    @Test(arguments: [("en", "en", 200), ("en", "fr", 404)])
    func soundThatTheOriginDoesNotHaveComesFromAnotherGroupOfItsLanguage(
        _ one: String, _ other: String, _ status: Int
    ) async throws {
        let fixture = try await TestHouse(.playback())
        try await putSound((one, other), in: fixture)
        let lists = try await fixture.entry(fixture.typed("/cmaf/sound.m3u8"))
        let paths = try await fixture.paths(at: try #require(lists.first { $0.contains("/audio-") }))
        for path in paths where path.hasSuffix("/2.m4s") || path.contains("init") {
            #expect(try await fixture.get(path).status == 200)
        }
        let answer = try await fixture.get(try #require(paths.first { $0.hasSuffix("/3.m4s") }))
        #expect(answer.status == status, "\(answer.text)")
        let requests = try await fixture.origin.requests().map(\.path)
        #expect(requests.contains("/cmaf/audio-en/3.m4s?other") == (status == 200), "\(requests)")
        if status == 200 {
            #expect(answer["cache-status"]?.contains("stands in") ?? false)
            let sound = try Spliced.fragment("cmaf", 3, of: "audio-en", behind: "audio-en")
            #expect([UInt8](answer.body) == sound)
        }
    }

    // MARK: Dead hosts

    /// Moves segments of renditions to a host without an address.
    private func bury(_ places: [Int], of lists: [String], _ fixture: TestHouse) async throws {
        for list in lists {
            let text = String(decoding: try Repository.fixture("/\(list)/media.m3u8"), as: UTF8.self)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                let isBuried = places.contains { line == "\($0).ts" || line == "\($0).m4s" }
                return isBuried ? "http://dead.invalid/\(line)" : String(line)
            }
            try await fixture.origin.add(
                OriginRule("/\(list)/media.m3u8") { ($0.status, $0.body) = (200, lines.joined(separator: "\n")) })
        }
    }

    private func numbers(_ paths: [String]) -> [Int] {
        paths.compactMap { $0.split(separator: "/").last?.split(separator: ".").first.flatMap { Int($0) } }
    }

    @Test func anotherRenditionsSegmentIsFetchedInPlaceOfADeadHosts() async throws {
        let fixture = try await TestHouse(.playback())
        try await bury([2, 3], of: ["ts/270p"], fixture)
        let paths = try await fixture.paths(fixture.typed("/ts/master.m3u8"), "video-270p")
        #expect(numbers(paths) == Array(0..<6))
        for place in 0..<6 {
            let answer = try await fixture.get(paths[place])
            let file = "ts/\([2, 3].contains(place) ? "180p" : "270p")/\(place).ts"
            let expected = [2, 3].contains(place) ? try Spliced.transport(file) : try Spliced.bytes(file)
            #expect(answer.status == 200 && [UInt8](answer.body) == expected, "\(place)")
        }
        // Each was fetched once, for the trial or for the player.
        let requests = try await fixture.mediaPaths()
        #expect(Set(requests).count == requests.count && !requests.contains { $0.contains("/90p/") }, "\(requests)")
    }

    @Test func aFragmentIsFetchedInPlaceOfADeadHosts() async throws {
        let fixture = try await TestHouse(.playback())
        try await bury([3], of: ["cmaf/video-270p"], fixture)
        let paths = try await fixture.paths(fixture.typed("/cmaf/master.m3u8"), "video-270p")
        #expect(paths.count == 13)
        let body = [UInt8](try await fixture.get(paths[4]).body)
        #expect(body == (try Spliced.fragment("cmaf", 3, of: "video-180p", behind: "video-270p")))
    }

    @Test func whatIsDeadInAllRenditionsIsLeftOut() async throws {
        let fixture = try await TestHouse(.playback())
        try await bury([2, 3], of: ["ts/90p", "ts/180p", "ts/270p"], fixture)
        for entry in [fixture.typed("/ts/master.m3u8"), "/auto" + fixture.typed("/ts/master.m3u8")] {
            for list in try await fixture.entry(entry) {
                let paths = try await fixture.paths(at: list)
                #expect(numbers(paths) == [0, 1, 4, 5], "\(list)")
            }
        }
        #expect(try await fixture.mediaPaths().isEmpty)
    }

    @Test func thePlayerWhoseQualityWeirChoosesGetsALivingOne() async throws {
        let fixture = try await TestHouse(.playback())
        try await bury([0, 2], of: ["ts/180p"], fixture)
        // The lowest variant of the fixture begins at other times than the rest.
        let master = String(decoding: try Repository.fixture("/ts/master.m3u8"), as: UTF8.self)
        let lines = master.split(separator: "\n").filter { !$0.contains("160x90") && $0 != "90p/media.m3u8" }
        let rest = lines.joined(separator: "\n") + "\n"
        try await fixture.origin.add(OriginRule("/ts/master.m3u8") { ($0.status, $0.body) = (200, rest) })
        let paths = try await fixture.media("/auto" + fixture.typed("/ts/master.m3u8"))
        #expect(numbers(paths) == Array(0..<6))
        for path in paths {
            #expect(try await fixture.get(path).status == 200, "\(path)")
        }
    }

    @Test func aRenditionOfAnotherKindDoesNotStandIn() async throws {
        let fixture = try await TestHouse(.playback())
        try await bury([2], of: ["ts/270p"], fixture)
        let master = String(decoding: try Repository.fixture("/ts/master.m3u8"), as: UTF8.self)
        let foreign = master.replacing("avc1.4d400c", with: "hvc1.1").replacing("avc1.42c00a", with: "hvc1.1")
        try await fixture.origin.add(OriginRule("/ts/master.m3u8") { ($0.status, $0.body) = (200, foreign) })
        let paths = try await fixture.paths(fixture.typed("/ts/master.m3u8"), "video-270p")
        #expect(numbers(paths) == [0, 1, 3, 4, 5])
    }

    @Test func substitutesSoonForASilentOrigin() async throws {
        let fixture = try await TestHouse(.playback { $0.playerTimeout = .milliseconds(200) })
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5]), ("video-270p", [0])])
        try await fixture.origin.add(OriginRule("/ts/270p/3.ts") { $0.hold = true })
        let path = try await fixture.paths(fixture.typed("/ts/master.m3u8"), "video-270p")[3]
        let answer = try await fixture.get(path)
        #expect(try answer.status == 200 && [UInt8](answer.body) == Spliced.transport("ts/180p/3.ts"))
        try await fixture.origin.release()
    }

    @Test(arguments: [true, false])
    func aFailureInsideASegmentIsSubstitutedAfterAnEarlierSegment(_ isSilent: Bool) async throws {
        let fixture = try await TestHouse(.absence(.seconds(600)), .playback())
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5]), ("video-270p", [0])])
        let paths = try await fixture.paths(fixture.typed("/ts/master.m3u8"), "video-270p")
        #expect(try await fixture.get(paths[0]).status == 200)
        try await fixture.origin.add(OriginRule("/ts/270p/1.ts") { $0.stallAfter = 2000 })
        let reply = Task { @LoopActor in try await fixture.get(paths[1]) }
        try await waitUntil("the beginning") {
            try await fixture.origin.requests().contains { $0.path == "/ts/270p/1.ts" && $0.bytes == 2000 }
        }
        if !isSilent {
            try await fixture.origin.stop()
        }
        let answer = try await reply.value
        #expect(try answer.status == 200 && [UInt8](answer.body) == Spliced.transport("ts/180p/1.ts"))
        guard isSilent else { return }
        // No reader waits for it any more.
        try await fixture.origin.clearRequests()
        let next = try await fixture.get(paths[2])
        #expect(try next.status == 200 && [UInt8](next.body) == Spliced.transport("ts/180p/2.ts"))
        #expect(try await fixture.mediaPaths().filter { $0.hasSuffix("/2.ts") } == [])
    }

    @Test func aStartedSegmentIsNotContinuedFromAnotherSource() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.play("ts", [("video-180p", [0, 1, 2, 3, 4, 5]), ("video-270p", [0])])
        let paths = try await fixture.paths(fixture.typed("/ts/master.m3u8"), "video-270p")
        try await fixture.origin.add(OriginRule("/ts/270p/3.ts") { $0.stallAfter = 2000 })
        let connection = try await fixture.ask(paths[3])
        _ = try await connection.receiveHead()
        #expect(try await connection.receive(count: 2000).end == .satisfied)
        try await fixture.origin.stop()
        #expect(try await connection.receive().end != .timedOut)
        let whole = try Spliced.transport("ts/180p/3.ts")
        // The first part came from the origin's own segment.
        let rest = try await fixture.get(paths[3], ["Range": "bytes=2000-"])
        #expect(rest.status == 200 && [UInt8](rest.body) == whole)
        let more = try await fixture.get(paths[3], ["Range": "bytes=1000-"])
        #expect(more.status == 206 && [UInt8](more.body) == Array(whole[1000...]))
    }
}
