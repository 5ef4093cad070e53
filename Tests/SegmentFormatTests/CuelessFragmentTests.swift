import Testing

@testable import SegmentFormat

/// Segments of subtitles in fragmented MP4 that show nothing.
@Suite struct CuelessFragmentTests {
    private static let document = Array(#"<tt xmlns="http://www.w3.org/ns/ttml" xml:lang=""></tt>"#.utf8)

    private static func section(_ format: String, timescale: UInt32 = 1000) throws -> InitializationSection {
        var section = HandMadeSection()
        section.handler = "text"
        section.format = format
        section.timescale = timescale
        return try section.section
    }

    @Test(arguments: [
        ("wvtt", number(UInt32(8)) + Array("vtte".utf8)), ("stpp", document), ("tx3g", [UInt8](repeating: 0, count: 2)),
    ])
    func hasOneSampleThatSaysThatThereIsNoCue(_ format: String, _ sample: [UInt8]) throws {
        let section = try Self.section(format)
        let fragment = try #require(CuelessFragment(section))
        let bytes = fragment.segment(start: 4, duration: 2, number: 2, timedAs: nil)
        #expect(try samples(of: bytes, section) == [1: [sample]])
        let times = try #require(try MediaSegment(ByteSource(bytes)).times(of: section).first)
        #expect(times.decodeStart.ticks == 4000 && times.end.ticks == 6000)
        #expect(try Box.topLevel(of: bytes).map(\.type) == ["moof", "mdat"])
        #expect(MediaRecognition.recognises(bytes, isWhole: true))
    }

    /// The formats of tracks that have no cues, or are encrypted.
    @Test(arguments: ["avc1", "mp4a", "enct", "c608"]) func isNotMadeForOtherTracks(_ format: String) throws {
        #expect(CuelessFragment(try Self.section(format)) == nil)
    }

    /// The neighbour begins at 5,000 ticks: its start in the playlist, the segment's start, and the segment's decode time.
    @Test(arguments: [
        (2.0, 4.0, Int64(7000)), (4.0, 2.0, 3000), (9.0, 2.0, 0), (0.0, 1e300, .max / 4), (0.0, .nan, 5000),
    ])
    func isTimedAsItsNeighbour(_ known: Double, _ start: Double, _ expected: Int64) throws {
        let section = try Self.section("wvtt")
        let fragment = try #require(CuelessFragment(section))
        let neighbour = CuelessFragment.Neighbour(try MediaSegment(ByteSource(HandMadeSegment().bytes)), start: known)
        let bytes = fragment.segment(start: start, duration: 2, number: 7, timedAs: neighbour)
        let times = try #require(try MediaSegment(ByteSource(bytes)).times(of: section).first)
        #expect(times.decodeStart.ticks == expected)
    }
}
