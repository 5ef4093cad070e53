import HLS
import Testing

@testable import Substitution

@Suite struct SegmentMatchTests {
    /// A playlist from marks: a number is a segment of that many seconds, `|` a discontinuity, `gap` marks the next
    /// segment as absent, a date is EXT-X-PROGRAM-DATE-TIME.
    private func playlist(_ marks: String) throws -> TimedPlaylist {
        var lines = ["#EXTM3U", "#EXT-X-TARGETDURATION:10"]
        for mark in marks.split(separator: " ") {
            switch mark {
            case "|": lines.append("#EXT-X-DISCONTINUITY")
            case "gap": lines.append("#EXT-X-GAP")
            case _ where mark.contains("T"): lines.append("#EXT-X-PROGRAM-DATE-TIME:\(mark)")
            default: lines += ["#EXTINF:\(mark),", "a.ts"]
            }
        }
        lines += ["#EXT-X-ENDLIST", ""]
        guard case .media(let playlist) = try Playlist.parse(Array(lines.joined(separator: "\n").utf8)) else {
            throw OtherPlaylist()
        }
        var times = [0.0]
        for segment in playlist.segments {
            times.append(times[times.count - 1] + segment.duration.seconds)
        }
        return TimedPlaylist(playlist, times: times)
    }

    /// Indices of the other playlist's segments; -1 for no match.
    private func match(_ own: String, _ other: String, shift: Double = 0) throws -> [Int] {
        let own = try playlist(own)
        let other = try playlist(other)
        let match = SegmentMatch(own, other, shift: shift, tolerance: 0.02)
        let places = own.playlist.segments.indices.map { match[$0] ?? -1 }
        #expect(match.count == places.count { $0 >= 0 })
        #expect(match.isEmpty == (match.count == 0))
        #expect(match[-1] == nil && match[own.playlist.segments.count] == nil)
        return places
    }

    @Test func segmentsOfEqualLengthMatchOneToOne() throws {
        #expect(try match("2 2 2", "2 2 2") == [0, 1, 2])
        #expect(try match("2.002 2.002 1.5", "2.00 2.00 1.51") == [0, 1, 2])
        #expect(try match("2 2 2", "2 2") == [0, 1, -1])
    }

    @Test func differentlyCutSegmentsMatchAtCommonBoundaries() throws {
        #expect(try match("2 2 2 2", "1 1 2 2 2") == [-1, 2, 3, 4])
        #expect(try match("1 1 2 2", "2 2 2") == [-1, -1, 1, 2])
        #expect(try match("2 2 2", "2 2.1 1.9") == [0, -1, -1])
        #expect(try match("2 2 2", "2.5 2 1.5") == [-1, -1, -1])
    }

    @Test func discontinuityCountsMustBeEqual() throws {
        #expect(try match("2 | 2 2", "2 | 2 2") == [0, 1, 2])
        #expect(try match("2 | 2 2", "2 2 | 2") == [0, -1, 2])
        #expect(try match("2 2 2", "2 | 2 2") == [0, -1, -1])
    }

    @Test func gapsMatchNothing() throws {
        #expect(try match("2 gap 2 2", "2 2 gap 2") == [0, -1, -1])
    }

    @Test func datesGiveTheShift() throws {
        let early = "2026-01-01T00:00:00Z 2 2 2"
        let late = "2026-01-01T00:00:02.000Z 2 2 2"
        let shifts = SegmentMatch.shifts(try playlist(early), try playlist(late))
        #expect(shifts == [-2, 0])
        #expect(try match(early, late, shift: -2) == [-1, 0, 1])
        #expect(try match(late, early, shift: 2) == [1, 2, -1])
        // A date applies from its position on.
        #expect(SegmentMatch.shifts(try playlist("2 2026-01-01T00:00:02Z 2"), try playlist(early)) == [0])
        #expect(SegmentMatch.shifts(try playlist("2 2"), try playlist(early)) == [0])
    }

    @Test func matchesManySegments() throws {
        let marks = [String](repeating: "2", count: 50_000).joined(separator: " ")
        let playlist = try playlist(marks)
        #expect(SegmentMatch(playlist, playlist, shift: 0, tolerance: 0.02).count == 50_000)
        #expect(SegmentMatch(playlist, playlist, shift: 1e6, tolerance: 0.02).count == 0)
    }
}

/// A playlist of a test is not of the expected kind.
struct OtherPlaylist: Error {}
