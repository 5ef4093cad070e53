import Testing

@testable import HLS

/// Live playlists of which some segments are on dead hosts, as players see them.
@Suite struct LiveOmissionsTests {
    /// A broadcast of which windows are listed.
    struct Broadcast {
        /// Segments that an EXT-X-DISCONTINUITY precedes.
        var discontinuities: Set<Int> = []
        var first = 100
        var head = ""

        func window(_ range: Range<Int>) throws -> MediaPlaylist {
            let gone = discontinuities.count { $0 < range.lowerBound }
            let lines = range.map { place in
                (discontinuities.contains(place) ? "#EXT-X-DISCONTINUITY\n" : "") + "#EXTINF:2,\ns\(place).ts\n"
            }
            return try Fixtures.media(
                "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(first + range.lowerBound)\n"
                    + "#EXT-X-DISCONTINUITY-SEQUENCE:\(gone)\n\(head)\(lines.joined())")
        }
    }

    /// The shown text of a window.
    private func shown(
        _ omissions: inout LiveOmissions, _ window: MediaPlaylist, dead: Set<Int> = [], shift: Int = 0
    ) throws -> String {
        let cut = omissions.cut(window, shift: shift) { segment in
            dead.contains(Int(segment.uri.drop { !$0.isNumber }.prefix { $0.isNumber }) ?? -1)
        }
        return String(decoding: try window.rendered(.plain, cut: cut) { _ in nil }, as: UTF8.self)
    }

    private func list(_ text: String) -> [String] {
        text.split(separator: "\n").filter { !$0.hasPrefix("#") || $0 == "#EXT-X-DISCONTINUITY" }.map {
            $0 == "#EXT-X-DISCONTINUITY" ? "D" : String($0.prefix { $0 != "." })
        }
    }

    @Test func aPlaylistWithoutDeadSegmentsIsUnchanged() throws {
        var omissions = LiveOmissions()
        let broadcast = Broadcast(discontinuities: [4])
        for first in 0..<6 {
            let window = try broadcast.window(first..<first + 3)
            #expect(omissions.cut(window, shift: 0) { _ in false } == nil)
        }
        #expect(omissions.isEmpty)
    }

    @Test func numbersContinueBehindAnAdvertisement() throws {
        var omissions = LiveOmissions()
        let broadcast = Broadcast(discontinuities: [3, 5])
        let dead: Set<Int> = [3, 4]
        #expect(list(try shown(&omissions, broadcast.window(0..<3), dead: dead)) == ["s0", "s1", "s2"])
        #expect(list(try shown(&omissions, broadcast.window(1..<5), dead: dead)) == ["s1", "s2"])
        let next = try shown(&omissions, broadcast.window(2..<6), dead: dead)
        // As many discontinuities as in the other renditions.
        #expect(list(next) == ["s2", "D", "D", "s5"])
        #expect(next.contains("#EXT-X-MEDIA-SEQUENCE:102\n") && next.contains("#EXT-X-DISCONTINUITY-SEQUENCE:0\n"))
        let last = try shown(&omissions, broadcast.window(5..<8), dead: dead)
        #expect(list(last) == ["D", "s5", "s6", "s7"])
        #expect(last.contains("#EXT-X-MEDIA-SEQUENCE:103\n") && last.contains("#EXT-X-DISCONTINUITY-SEQUENCE:1\n"))
    }

    @Test func anAddedDiscontinuityIsCountedOnceItIsGone() throws {
        var omissions = LiveOmissions()
        let broadcast = Broadcast()
        _ = try shown(&omissions, broadcast.window(0..<3), dead: [2])
        #expect(list(try shown(&omissions, broadcast.window(1..<4))) == ["s1", "D", "s3"])
        let first = try shown(&omissions, broadcast.window(3..<6))
        #expect(list(first) == ["D", "s3", "s4", "s5"] && first.contains("DISCONTINUITY-SEQUENCE:0\n"))
        let later = try shown(&omissions, broadcast.window(4..<7))
        #expect(list(later) == ["s4", "s5", "s6"] && later.contains("DISCONTINUITY-SEQUENCE:1\n"))
        #expect(later.contains("#EXT-X-MEDIA-SEQUENCE:103\n"))
    }

    @Test func aShownSegmentStaysAndAnOmittedOneDoesNotReturn() throws {
        var omissions = LiveOmissions()
        let broadcast = Broadcast()
        #expect(list(try shown(&omissions, broadcast.window(0..<4), dead: [1])) == ["s0", "D", "s2", "s3"])
        #expect(list(try shown(&omissions, broadcast.window(0..<5), dead: [2, 3])) == ["s0", "D", "s2", "s3", "s4"])
    }

    @Test func aRestartOfTheNumbersBeginsAnew() throws {
        var omissions = LiveOmissions()
        _ = try shown(&omissions, Broadcast().window(0..<4), dead: [1])
        let restarted = try shown(&omissions, Broadcast(first: 0).window(0..<3), shift: 104)
        #expect(list(restarted) == ["s0", "s1", "s2"] && restarted.contains("#EXT-X-MEDIA-SEQUENCE:0\n"))
    }

    @Test func aWindowOfDeadSegmentsIsEmpty() throws {
        var omissions = LiveOmissions()
        let cut = omissions.cut(try Broadcast().window(0..<3), shift: 0) { _ in true }
        #expect(cut?.isEmpty == true)
    }

    @Test func keysWithoutAVectorKeepTheirs() throws {
        var omissions = LiveOmissions()
        let broadcast = Broadcast(head: "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n")
        _ = try shown(&omissions, broadcast.window(0..<3), dead: [0])
        let later = try shown(&omissions, broadcast.window(1..<4))
        // The number that the segment was encrypted with is 101.
        #expect(
            later.contains("#EXT-X-MEDIA-SEQUENCE:100\n") && later.contains("IV=0x00000000000000000000000000000065"))
    }

    @Test func aFragmentedStreamGetsNoDiscontinuity() throws {
        var omissions = LiveOmissions()
        let broadcast = Broadcast(head: "#EXT-X-MAP:URI=\"init.mp4\"\n")
        #expect(list(try shown(&omissions, broadcast.window(0..<4), dead: [1])) == ["s0", "s2", "s3"])
    }

    /// Whatever dies and returns at any moment, no segment changes its numbers, and none comes between two that were shown.
    @Test(arguments: 0..<200) func numbersNeverJumpOrRepeat(seed: Int) throws {
        var random = SystemlessGenerator(seed: UInt64(seed))
        let broadcast = Broadcast(discontinuities: Set((0..<60).filter { _ in random.chance(of: 5) }))
        var omissions = LiveOmissions()
        var known: [String: (number: Int, discontinuity: Int)] = [:]
        var first = 0
        var end = 3
        var shownLast = -1
        while end < 60 {
            let window = try broadcast.window(first..<end)
            let isDead = random.chance(of: 2)
            let dead = isDead ? Set((first..<end).filter { _ in random.chance(of: 2) }) : []
            let text = try shown(&omissions, window, dead: dead)
            let playlist = try Fixtures.media(text)
            var discontinuity = Int(playlist.discontinuitySequence)
            for segment in playlist.segments {
                if segment.isDiscontinuity {
                    discontinuity += try tags(before: segment.uri, in: text)
                }
                let numbers = (number: Int(segment.mediaSequenceNumber), discontinuity: discontinuity)
                if let before = known[segment.uri] {
                    #expect(before == numbers, "\(segment.uri) of \(first)..<\(end)")
                } else {
                    let place = try #require(Int(segment.uri.drop { !$0.isNumber }.prefix { $0.isNumber }))
                    #expect(place > shownLast && numbers.number == 100 + known.count)
                    shownLast = place
                    known[segment.uri] = numbers
                }
            }
            end += 1 + Int(random.next() % 2)
            first = max(first, end - 3 - Int(random.next() % 3))
        }
        #expect(known.count > 10)
    }

    /// The number of discontinuities right before a segment.
    private func tags(before uri: String, in text: String) throws -> Int {
        let lines = list(text)
        let place = try #require(lines.firstIndex(of: String(uri.prefix { $0 != "." })))
        return lines[..<place].reversed().prefix { $0 == "D" }.count
    }
}

/// A generator of the same numbers each time.
private struct SystemlessGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state >> 3
    }

    mutating func chance(of count: UInt64) -> Bool { next() % count == 0 }
}
