import Testing

@testable import SegmentFormat

@Suite("A splice")
struct SpliceTests {
    private static let playlist = HandMadeSection(
        defaults: [1, 0, 0, 0], sound: HandMadeSection.sound(rate: 64_000))
    private static let source = HandMadeSection(
        dimensions: [320, 180], configuration: HandMadeSection.avc([[0x67, 9, 9, 9]], [[0x68, 8]]),
        defaults: [1, 0, 13, 0], sound: HandMadeSection.sound(rate: 64_000))
    /// The parameter sets inserted in front of the first picture.
    private static let sets = HandMadeSegment.unit([0x67, 9, 9, 9]) + HandMadeSegment.unit([0x68, 8])

    private static let pictures = [
        HandMadeSegment.unit([0x65, 1, 2, 3, 4, 5, 6, 7, 8]), HandMadeSegment.unit([0x41, 1, 2, 3, 4, 5, 6, 7, 8]),
    ]
    private static let sounds = [zeros(13), [UInt8](repeating: 1, count: 13)]

    struct Shape: CustomTestStringConvertible {
        var countsFromFragment: Bool
        var sizes: HandMadeSegment.Sizes
        var hasLongMediaData: Bool
        var testDescription: String {
            "\(countsFromFragment ? "from moof" : "absolute"), \(sizes)\(hasLongMediaData ? ", 64 bits" : "")"
        }
        static let all: [Shape] = [true, false].flatMap { counts in
            [HandMadeSegment.Sizes.ofEach, .ofFragment, .ofTrack].flatMap { sizes in
                [true, false].map { Shape(countsFromFragment: counts, sizes: sizes, hasLongMediaData: $0) }
            }
        }
    }

    @Test("inserts the parameter sets before the first picture and keeps every other sample", arguments: Shape.all)
    func keepsSamples(shape: Shape) throws {
        let segment = HandMadeSegment(
            pictures: Self.pictures, sounds: Self.sounds, countsFromFragment: shape.countsFromFragment,
            sizes: shape.sizes, hasLongMediaData: shape.hasLongMediaData
        ).bytes
        let source = try Self.source.section
        let playlist = try Self.playlist.section
        #expect(try samples(of: segment, source) == [1: Self.pictures, 2: Self.sounds])
        let splice = try SplicePair(of: source, behind: playlist).splice(ByteSource(segment))
        let spliced = splice.joined(with: segment)
        #expect(spliced.count == splice.count)
        // Parsed as a player does: with the playlist's initialization section.
        let expected: [UInt32: [[UInt8]]] = [1: [Self.sets + Self.pictures[0], Self.pictures[1]], 2: Self.sounds]
        #expect(try samples(of: spliced, playlist) == expected)
        #expect(try Box.topLevel(of: spliced).map(\.type) == ["styp", "moof", "mdat"])
        #expect(try MediaSegment(ByteSource(spliced)).times(of: playlist) == read(segment, source))
    }

    private func read(_ segment: [UInt8], _ section: InitializationSection) throws -> [TrackTimes] {
        try MediaSegment(ByteSource(segment)).times(of: section)
    }

    @Test("inserts them after an access unit delimiter, which must come first")
    func insertsAfterDelimiter() throws {
        var segment = HandMadeSegment()
        let delimiter = HandMadeSegment.unit([0x09, 0x10])
        segment.pictures[0] = delimiter + segment.pictures[0]
        let source = try Self.source.section
        let spliced = try SplicePair(of: source, behind: try Self.playlist.section).splice(ByteSource(segment.bytes))
        let found = try samples(of: spliced.joined(with: segment.bytes), source)
        #expect(found[1]?[0] == delimiter + Self.sets + HandMadeSegment.unit([0x65, 1, 2, 3]))
    }

    @Test("sends the media from the file, and only the media")
    func readsOnlyBoxes() throws {
        var segment = HandMadeSegment()
        segment.pictures[1] = HandMadeSegment.unit([0x41] + zeros(100_000))
        let bytes = segment.bytes
        var reads = 0
        let source = ByteSource(count: bytes.count) { range in
            reads += range.count
            return Array(bytes[range])
        }
        let splicePair = SplicePair(of: try Self.source.section, behind: try Self.playlist.section)
        let splice = try splicePair.splice(source)
        #expect(reads < 50_000)
        guard splice.pieces.count == 2, case .bytes(let head) = splice.pieces[0],
            case .original(let rest) = splice.pieces[1]
        else {
            Issue.record("\(splice.pieces.map(\.count))")
            return
        }
        #expect(rest.upperBound == bytes.count && rest.count > 100_000 && head.count < 400)
        let whole = splice.joined(with: bytes)
        for range in [0..<1, 10..<300, 0..<splice.count, 200..<100_000, (splice.count - 1)..<splice.count, 5..<5] {
            let part = Splice(pieces: splice.pieces(in: range), count: range.count)
            #expect(part.joined(with: bytes) == Array(whole[range]))
        }
    }

    @Test("keeps the presentation times of the source's edit list")
    func keepsPresentationTimes() throws {
        let source = try HandMadeSection(edits: [(0, 100)]).section
        let playlist = try HandMadeSection(edits: [(0, 300)]).section
        let bytes = HandMadeSegment().bytes
        let spliced = try SplicePair(of: source, behind: playlist).splice(ByteSource(bytes)).joined(with: bytes)
        let times = try read(spliced, playlist)
        #expect(try times == read(bytes, source))
        #expect(times[0].start == MediaTime(ticks: 4900, timescale: 1000))
        #expect(times[0].decodeStart == MediaTime(ticks: 5000, timescale: 1000))
    }

    @Test("enlarges the clear range of the first encrypted sample")
    func enlargesClearRange() throws {
        let protection = box(
            "sinf", box("frma", Array("avc1".utf8)), fullBox("schm", Array("cenc".utf8), zeros(4)),
            box("schi", fullBox("tenc", [0, 0, 1, 8], zeros(16))))
        let map = fullBox(
            "senc", flags: 2, number(UInt32(2)), zeros(8), number(UInt16(1)), number(UInt16(5)), number(UInt32(3)),
            zeros(8), number(UInt16(1)), number(UInt16(5)), number(UInt32(1)))
        let section = try HandMadeSection(format: "encv", entryBoxes: protection).section
        var segment = HandMadeSegment()
        segment.inVideoFragment = map
        let bytes = segment.bytes
        let spliced = try SplicePair(of: section, behind: section).splice(ByteSource(bytes)).joined(with: bytes)
        let place = try #require(spliced.indices.first { spliced[$0...].starts(with: Array("senc".utf8)) })
        let sets = HandMadeSegment.unit([0x67, 1, 2]) + HandMadeSegment.unit([0x68, 3])
        #expect(
            Array(spliced[(place + 20)..<(place + 26)]) == number(UInt16(1)) + number(UInt16(5 + sets.count)) + [0, 0])

        segment.inVideoFragment = []
        let error = try #require(throws: SegmentFormatError.self) {
            try SplicePair(of: section, behind: section).splice(ByteSource(segment.bytes))
        }
        #expect(error.code == .cannotJoin && error.reason.contains("encrypted"))
    }

    @Test("updates the offsets of moved encryption boxes")
    func updatesAuxiliaryOffsets() throws {
        let protection = box(
            "sinf", box("frma", Array("avc1".utf8)), fullBox("schm", Array("cbcs".utf8), zeros(4)),
            box("schi", fullBox("tenc", [0, 0x19, 1, 0], zeros(16), [8], zeros(8))))
        // A constant initialization vector; both pictures have five clear bytes.
        let parts = number(UInt16(1)) + number(UInt16(5)) + number(UInt32(8))
        let map = fullBox("senc", flags: 2, number(UInt32(2)), parts, parts)
        let source = try HandMadeSection(format: "encv", entryBoxes: protection, defaults: [1, 0, 13, 0]).section
        let playlist = try HandMadeSection(format: "encv", entryBoxes: protection).section
        func place(_ type: String, in bytes: [UInt8]) throws -> Int {
            try #require(bytes.indices.first { bytes[$0...].starts(with: Array(type.utf8)) }) - 4
        }
        for isLong in [false, true] {
            var segment = HandMadeSegment(pictures: Self.pictures, sizes: .ofTrack)
            func offsets(_ offset: Int) -> [UInt8] {
                let value = isLong ? number(UInt64(offset)) : number(UInt32(offset))
                return fullBox("saio", version: isLong ? 1 : 0, number(UInt32(1)), value)
            }
            segment.inVideoFragment = map + offsets(0)
            let start = try place("senc", in: segment.bytes) + 16 - place("moof", in: segment.bytes)
            segment.inVideoFragment = map + offsets(start)
            let bytes = segment.bytes
            let spliced = try SplicePair(of: source, behind: playlist).splice(ByteSource(bytes)).joined(with: bytes)
            let moved = try place("senc", in: spliced) + 16 - place("moof", in: spliced)
            #expect(moved > start)
            let expected = offsets(moved)
            let found = try place("saio", in: spliced)
            #expect(Array(spliced[found..<(found + expected.count)]) == expected)
            #expect(try samples(of: spliced, playlist)[1]?.count == 2)
        }
    }

    private func refusal(_ change: (inout HandMadeSegment) -> Void) throws -> String {
        var segment = HandMadeSegment()
        change(&segment)
        let splicePair = SplicePair(of: try Self.source.section, behind: try Self.playlist.section)
        let error = try #require(throws: SegmentFormatError.self) { try splicePair.splice(ByteSource(segment.bytes)) }
        return error.reason
    }

    @Test("is refused without a random access point, and with inconsistent boxes")
    func refusesBadSegments() throws {
        #expect(try refusal { $0.pictures.removeFirst() } == "its first picture is not a random access point")
        #expect(try refusal { $0.pictures[0] = HandMadeSegment.unit([6, 1]) } == "its first sample has no picture")
        #expect(
            try refusal { $0.pictures[0][0] = 1 } == "a NAL unit of 16777220 bytes does not fit its first sample")
        #expect(try refusal { $0.inVideoFragment = fullBox("subs") } == "its samples are divided by a subs box")
        #expect(try refusal { $0.before = HandMadeSection().bytes } == "it has its own initialization section")
        let again = fullBox("trun", flags: 1, number(UInt32(1)), number(UInt32(1_000_000)))
        #expect(try refusal { $0.inVideoFragment = again }.hasPrefix("no mdat holds its 13 bytes from byte"))
        let many = fullBox("trun", flags: 1, number(UInt32.max), number(UInt32(0)))
        #expect(try refusal { $0.inVideoFragment = many } == "it announces 4294967295 samples")
    }
}
