import HLS
import HTTPMessage
import Testing

@testable import Assets
@testable import Fetching

@Suite struct DeliveryDirectivesTests {
    private func directives(_ query: String) throws -> DeliveryDirectives {
        try DeliveryDirectives.split(query).0
    }

    private func playlist(_ lines: String) throws -> MediaPlaylist {
        guard case .media(let playlist) = try Playlist.parse(Array("#EXTM3U\n\(lines)\n".utf8)) else {
            throw LibraryError(.notPlaylist, "")
        }
        return playlist
    }

    @Test(
        arguments: [
            (nil, nil), ("", ""), ("token=1", "token=1"), ("_HLS_msn=7", nil), ("_HLS_msn=7&token=1", "token=1"),
            ("token=1&_HLS_part=2&_HLS_msn=7&b", "token=1&b"), ("a&&b", "a&&b"), ("_HLS_skip=no", nil),
            ("_HLS_other=1", "_HLS_other=1"), ("x_HLS_msn=x", "x_HLS_msn=x"),
        ] as [(String?, String?)])
    func otherQueryParametersBelongToTheOrigin(_ query: String?, _ rest: String?) throws {
        #expect(try DeliveryDirectives.split(query).rest == rest)
    }

    @Test func parsesDirectives() throws {
        let all = try directives("_HLS_skip=v2&_HLS_part=2&_HLS_msn=7")
        #expect(all.mediaSequenceNumber == 7 && all.part == 2 && all.skip == .segmentsAndDateRanges)
        #expect(try directives("_HLS_skip=YES").skip == .segments)
        #expect(try directives("_HLS_skip=maybe") == .none)
    }

    @Test(
        arguments: [
            "_HLS_msn=", "_HLS_msn=-1", "_HLS_msn=x", "_HLS_msn", "_HLS_msn=1.5", "_HLS_msn=9223372036854775807",
            "_HLS_part=1", "_HLS_msn=1&_HLS_part=", "_HLS_msn=1%20",
        ])
    func refusesInvalidDirectives(_ query: String) {
        #expect(throws: LibraryError.self) { try DeliveryDirectives.split(query) }
    }

    @Test(
        arguments: [
            ("http://o/m.m3u8", "http://o/m.m3u8?_HLS_msn=7&_HLS_part=2&_HLS_skip=YES"),
            ("http://o/m.m3u8?", "http://o/m.m3u8?_HLS_msn=7&_HLS_part=2&_HLS_skip=YES"),
            ("http://o/m.m3u8?t=%2F&u=a:b", "http://o/m.m3u8?t=%2F&u=a:b&_HLS_msn=7&_HLS_part=2&_HLS_skip=YES"),
        ])
    func directivesFollowTheOriginsQuerySortedByName(_ url: String, _ expected: String) throws {
        let directives = try directives("_HLS_skip=YES&_HLS_part=2&_HLS_msn=7")
        #expect(try directives.added(to: WebURL(url)).text == expected)
        #expect(try DeliveryDirectives.none.added(to: WebURL(url)).text == url)
    }

    @Test(
        arguments: [
            ("http://o/m.m3u8?_HLS_msn=7&_HLS_part=2&_HLS_skip=YES", "http://o/m.m3u8"),
            ("http://o/m.m3u8?t=%2F&_HLS_part=x&b", "http://o/m.m3u8?t=%2F&b"),
            ("http://o/_HLS_msn", "http://o/_HLS_msn"),
            ("http://o/m.m3u8?_HLS_other=1", "http://o/m.m3u8?_HLS_other=1"),
        ])
    func anAssetHasNoneInItsURL(_ url: String, _ expected: String) throws {
        #expect(try WebURL(url).withoutDirectives.text == expected)
    }

    @Test func sendsOnlyDirectivesThatTheOriginOffers() throws {
        let all = try directives("_HLS_msn=7&_HLS_part=2&_HLS_skip=YES")
        let segment = "\n#EXTINF:2,\n0.ts"
        #expect(try all.understood(by: playlist("#EXT-X-VERSION:3" + segment)) == .none)
        let blocks = "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES" + segment
        #expect(try all.understood(by: playlist(blocks)) == directives("_HLS_msn=7&_HLS_part=2"))
        let skips = "#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=12" + segment
        #expect(try all.understood(by: playlist(skips)) == directives("_HLS_skip=YES"))
        #expect(try all.understood(by: playlist(blocks + "\n#EXT-X-ENDLIST")) == .none)
    }

    /// Segments 5 (its parts are no longer listed) and 6 are complete; segment 7 has two parts.
    private static let edge = """
        #EXT-X-MEDIA-SEQUENCE:5
        #EXTINF:2,
        5.mp4
        #EXT-X-PART:DURATION=1,URI="6.0.mp4"
        #EXT-X-PART:DURATION=1,URI="6.1.mp4"
        #EXTINF:2,
        6.mp4
        """
    private static let begun = """

        #EXT-X-PART:DURATION=1,URI="7.0.mp4"
        #EXT-X-PART:DURATION=1,URI="7.1.mp4"
        """

    @Test(
        arguments: [
            ("_HLS_msn=6", true, true), ("_HLS_msn=7", false, false), ("_HLS_msn=0&_HLS_part=9", true, true),
            ("_HLS_msn=5&_HLS_part=3", true, true), ("_HLS_msn=6&_HLS_part=1", true, true),
            ("_HLS_msn=6&_HLS_part=2", false, true), ("_HLS_msn=7&_HLS_part=1", false, true),
            ("_HLS_msn=7&_HLS_part=2", false, false), ("_HLS_msn=8&_HLS_part=0", false, false),
        ])
    func aPlaylistSatisfiesDirectivesForListedParts(_ query: String, _ atSegment: Bool, _ inNext: Bool) throws {
        #expect(try directives(query).areMet(by: playlist(Self.edge)) == atSegment)
        #expect(try directives(query).areMet(by: playlist(Self.edge + Self.begun)) == inNext)
        #expect(try directives(query).areMet(by: playlist(Self.edge + "\n#EXT-X-ENDLIST")))
    }
}

@Suite struct ReloadScheduleTests {
    @Test func waitsATargetDurationAfterAChangeElseHalf() {
        var schedule = ReloadSchedule()
        let start = ContinuousClock.now
        #expect(schedule.wait(now: start) == .zero)
        schedule.record(began: start, targetDuration: .seconds(6), hasChanged: true)
        #expect(schedule.wait(now: start + .seconds(1)) == .seconds(5))
        #expect(schedule.wait(now: start + .seconds(6)) == .zero)
        schedule.record(began: start + .seconds(7), targetDuration: .seconds(6), hasChanged: false)
        #expect(schedule.wait(now: start + .seconds(8)) == .seconds(2))
    }
}
