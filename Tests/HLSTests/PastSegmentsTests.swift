import Foundation
import Testing

@testable import HLS

/// The text of a live playlist with the segments that it has dropped.
@Suite struct PastSegmentsTests {
    /// Follows windows, each with its URL, and returns the text in front of the last one.
    private func text(_ windows: [String], lost: Set<Int> = [], seconds: Double = 1_000) throws -> String? {
        var past = PastSegments()
        var former: MediaPlaylist?
        for window in windows {
            let playlist = try media(window)
            if let former {
                past.follow(
                    playlist, behind: former, isKept: { !lost.contains(Int($0.mediaSequenceNumber)) },
                    resolve: { "https://host/\($0)" })
                past.trim(toSeconds: seconds)
            }
            former = playlist
        }
        let last = try #require(former)
        return try past.text(before: last).map { String(decoding: $0, as: UTF8.self) }
    }

    private func media(_ text: String) throws -> MediaPlaylist {
        guard case .media(let playlist) = try Playlist.parse(Array(text.utf8)) else {
            throw CocoaError(.coderInvalidValue)
        }
        return playlist
    }

    private func window(_ first: Int, _ lines: String, _ head: String = "") -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(first)\n\(head)\(lines)"
    }

    private func plain(_ numbers: Range<Int>) -> String { numbers.map { "#EXTINF:2,\n\($0).ts\n" }.joined() }

    @Test func droppedSegmentsPrecedeTheOriginsText() throws {
        let windows = [window(5, plain(5..<8)), window(6, plain(6..<9)), window(8, plain(8..<10))]
        #expect(
            try text(windows) == """
                #EXTM3U
                #EXT-X-TARGETDURATION:2
                #EXT-X-MEDIA-SEQUENCE:5
                #EXTINF:2,
                https://host/5.ts
                #EXTINF:2,
                https://host/6.ts
                #EXTINF:2,
                https://host/7.ts
                #EXTINF:2,
                8.ts
                #EXTINF:2,
                9.ts

                """)
    }

    @Test func theOriginsOwnTextStaysWhereNothingPrecedesIt() throws {
        #expect(try text([window(5, plain(5..<8)), window(5, plain(5..<9))]) == nil)
        // All that precedes a lost segment goes.
        #expect(try text([window(5, plain(5..<8)), window(8, plain(8..<10))], lost: [7]) == nil)
        let afterLoss = try #require(try text([window(5, plain(5..<8)), window(8, plain(8..<10))], lost: [6]))
        #expect(afterLoss.contains("SEQUENCE:7\n") && !afterLoss.contains("/5.ts"))
        // Segments that were in no text are missing.
        #expect(try text([window(5, plain(5..<8)), window(9, plain(9..<12))]) == nil)
    }

    @Test func itIsNoLongerThanATime() throws {
        let windows = (0..<20).map { window($0, plain($0..<$0 + 3)) }
        let short = try #require(try text(windows, seconds: 5))
        #expect(short.contains("#EXT-X-MEDIA-SEQUENCE:17\n") && short.contains("/18.ts\n"))
        #expect(try text(windows, seconds: 1) == nil)
    }

    @Test func keysSectionsAndRangesKeepTheirMeaning() throws {
        let head = "#EXT-X-KEY:METHOD=AES-128,URI=\"a.key\"\n#EXT-X-MAP:URI=\"init.mp4\",BYTERANGE=\"9@0\"\n"
        let first = window(
            0,
            head + "#EXTINF:2,\n#EXT-X-BYTERANGE:10@9\nall.mp4\n#EXT-X-KEY:METHOD=NONE\n#EXT-X-DISCONTINUITY\n"
                + "#EXT-X-MAP:URI=\"other.mp4\"\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:02Z\n#EXTINF:2,\n1.m4s\n"
                + "#EXT-X-KEY:METHOD=AES-128,URI=\"b.key\",IV=0x1\n#EXTINF:2,\n2.m4s\n")
        let last = window(3, "#EXT-X-MAP:URI=\"other.mp4\"\n#EXTINF:2,\n3.m4s\n", "#EXT-X-DISCONTINUITY-SEQUENCE:8\n")
        #expect(
            try text([first, last]) == """
                #EXTM3U
                #EXT-X-TARGETDURATION:2
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-DISCONTINUITY-SEQUENCE:7
                #EXT-X-KEY:METHOD=AES-128,URI="https://host/a.key"
                #EXT-X-MAP:URI="https://host/init.mp4",BYTERANGE="9@0"
                #EXTINF:2,
                #EXT-X-BYTERANGE:10@9
                https://host/all.mp4
                #EXT-X-DISCONTINUITY
                #EXT-X-KEY:METHOD=NONE
                #EXT-X-MAP:URI="https://host/other.mp4"
                #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:02Z
                #EXTINF:2,
                https://host/1.m4s
                #EXT-X-KEY:METHOD=AES-128,URI="https://host/b.key",IV=0x1
                #EXTINF:2,
                https://host/2.m4s
                #EXT-X-KEY:METHOD=NONE
                #EXT-X-MAP:URI="other.mp4"
                #EXTINF:2,
                3.m4s

                """)
    }

    @Test func theDiscontinuitySequenceCountsWhatWasForgotten() throws {
        func list(_ numbers: Range<Int>) -> String {
            let lines = numbers.map { "#EXT-X-DISCONTINUITY\n#EXTINF:2,\n\($0).ts\n" }.joined()
            return window(numbers.lowerBound, lines, "#EXT-X-DISCONTINUITY-SEQUENCE:\(100 + numbers.lowerBound)\n")
        }
        let long = try #require(try text((0..<9).map { list($0..<$0 + 2) }, seconds: 6))
        #expect(long.contains("#EXT-X-MEDIA-SEQUENCE:5\n#EXT-X-DISCONTINUITY-SEQUENCE:105\n"), "\(long)")
    }

    @Test func aSectionThatNothingEndsIsForgotten() throws {
        let sections = window(0, "#EXT-X-MAP:URI=\"init.mp4\"\n" + plain(0..<2))
        #expect(try text([sections, window(2, plain(2..<4))]) == nil)
    }

    @Test func aDeltaUpdateSkipsTheDroppedSegmentsToo() throws {
        var past = PastSegments()
        let former = try media(window(5, plain(5..<9)))
        let next = try media(window(7, plain(7..<11)))
        past.follow(next, behind: former, isKept: { _ in true }, resolve: { $0 })
        let update = try media(
            "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:8\n#EXT-X-SKIP:SKIPPED-SEGMENTS=3\n"
                + plain(11..<12))
        let text = String(decoding: try #require(try past.text(before: update)), as: UTF8.self)
        #expect(
            text.contains("#EXT-X-MEDIA-SEQUENCE:5\n#EXT-X-SKIP:SKIPPED-SEGMENTS=6\n#EXTINF:2,\n11.ts\n"), "\(text)")
    }

    @Test func aStartIsCountedFromTheNewBeginning() throws {
        func window(_ offset: String) -> String {
            self.window(2, plain(2..<4), "#EXT-X-START:TIME-OFFSET=\(offset),PRECISE=YES\n")
        }
        let first = self.window(0, plain(0..<3))
        #expect(try text([first, window("1")])?.contains("#EXT-X-START:TIME-OFFSET=5.0,PRECISE=YES\n") == true)
        #expect(try text([first, window("-3")])?.contains("#EXT-X-START:TIME-OFFSET=-3,PRECISE=YES\n") == true)
    }
}
