import Testing

@testable import SegmentFormat

@Suite("Untrusted bytes")
struct HostileBytesTests {
    private static let sections = ["cmaf/video-180p/init.mp4", "cmaf/audio-en/init.mp4", "byterange-fmp4/180p/all.mp4"]

    /// The initialization section at the start of a file.
    private static func section(_ path: String) throws -> [UInt8] {
        let bytes = try Fixture.bytes(path)
        let end = try #require(try Box.topLevel(of: bytes).first { $0.type == "moov" }).range.upperBound
        return Array(bytes[..<end])
    }

    @Test("truncated anywhere in an initialization section are refused", arguments: sections)
    func refusesTruncatedSections(path: String) throws {
        let bytes = try Self.section(path)
        _ = try InitializationSection(bytes)
        for count in bytes.indices {
            #expect(throws: SegmentFormatError.self) { try InitializationSection(Array(bytes[..<count])) }
        }
    }

    @Test("changed anywhere in an initialization section never trap", arguments: sections)
    func survivesChangedSections(path: String) throws {
        let bytes = try Self.section(path)
        let own = try InitializationSection(bytes)
        for index in bytes.indices {
            for value in [0, 1, 0x7F, 0xFF] as [UInt8] where bytes[index] != value {
                var changed = bytes
                changed[index] = value
                guard let read = try? InitializationSection(changed) else { continue }
                #expect(!read.tracks.isEmpty)
                _ = SplicePair(of: read, behind: own).verdict
            }
        }
    }

    private static func segment() throws -> (InitializationSection, [UInt8]) {
        let section = try InitializationSection(Fixture.bytes("cmaf/video-180p/init.mp4"))
        return (section, try Fixture.bytes("cmaf/video-180p/1.m4s"))
    }

    @Test("truncated anywhere in a segment are not spliced")
    func refusesTruncatedSegments() throws {
        let (section, bytes) = try Self.segment()
        let splicePair = SplicePair(of: section, behind: section)
        _ = try splicePair.splice(ByteSource(bytes))
        for count in bytes.indices {
            #expect(throws: SegmentFormatError.self) { try splicePair.splice(ByteSource(Array(bytes[..<count]))) }
        }
    }

    @Test("changed anywhere in the boxes of a segment never trap or lose a sample")
    func survivesChangedSegments() throws {
        let (section, bytes) = try Self.segment()
        let splicePair = SplicePair(of: section, behind: section)
        let sets = try #require(section.tracks[0].sampleEntries[0].configuration?.inBand)
        let media = try #require(try Box.topLevel(of: bytes).first { $0.type == "mdat" })
        var kept = 0
        for index in 0..<(media.payload.lowerBound + 5) {
            for value in [0, 1, 0x7F, 0xFF] as [UInt8] where bytes[index] != value {
                var changed = bytes
                changed[index] = value
                guard let splice = try? splicePair.splice(ByteSource(changed)) else { continue }
                let spliced = splice.joined(with: changed)
                var expected = try samples(of: changed, section)
                if let first = expected[1]?.first {
                    expected[1]?[0] = sets + first
                }
                #expect(try samples(of: spliced, section) == expected)
                kept += 1
            }
        }
        #expect(kept > 100)
    }

    @Test("that cannot be read throw an error")
    func reportsUnreadableSource() throws {
        let error = try #require(throws: SegmentFormatError.self) {
            try MediaSegment(ByteSource(count: 100) { _ in nil })
        }
        #expect(error.code == .unreadable && error.offset == 0)
        #expect(throws: SegmentFormatError.self) { try MediaSegment(ByteSource(count: 100) { _ in [1] }) }
    }

    @Test("of another format are refused, with the missing box")
    func refusesOtherFormats() throws {
        let section = try #require(throws: SegmentFormatError.self) { try InitializationSection(Self.segment().1) }
        #expect(section.description == "moov: there is no movie in the section")
        let segment = try #require(throws: SegmentFormatError.self) {
            try MediaSegment(ByteSource(try Fixture.bytes("cmaf/video-180p/init.mp4")))
        }
        #expect(segment.description == "moof: there is no movie fragment in the segment")
        let stream = try #require(throws: SegmentFormatError.self) {
            try MediaSegment(ByteSource(try Fixture.bytes("ts/90p/0.ts")))
        }
        #expect(stream.box != nil && stream.offset == 0)
    }

    @Test("that exceed a list limit are refused")
    func refusesTooManyEntries() throws {
        func error(_ section: HandMadeSection) throws -> String {
            let error = try #require(throws: SegmentFormatError.self) { try section.section }
            return "\(error.code.rawValue), \(error.box ?? ""), \(error.reason)"
        }
        let many = Array(repeating: box("colr"), count: 300).flatMap { $0 }
        #expect(try error(HandMadeSection(entryBoxes: many)) == "overLimit, avc1, it has more than 256 entries")
        var section = HandMadeSection().bytes
        let tracks = Array(repeating: box("trak"), count: 300).flatMap { $0 }
        section = box("moov", tracks)
        let refused = try #require(throws: SegmentFormatError.self) { try InitializationSection(section) }
        #expect(refused.code == .overLimit && refused.box == "moov")
    }

    @Test("that lack or repeat a box are refused, with the box")
    func refusesMissingAndDuplicateBoxes() throws {
        func error(_ section: [UInt8]) throws -> String {
            try #require(throws: SegmentFormatError.self) { try InitializationSection(section) }.description
        }
        let movie = fullBox("mvhd", zeros(8), number(UInt32(1000)), zeros(84))
        #expect(try error(box("moov", movie, movie)) == "mvhd at byte 116: it occurs twice")
        #expect(try error(box("moov", movie)) == "moov at byte 0: it has no trak")
        #expect(try error(box("moov")) == "moov at byte 0: it has no mvhd")
        #expect(try error(box("moov", movie, box("trak"))) == "trak at byte 116: it has no tkhd")
        #expect(
            try error(box("moov", fullBox("mvhd", zeros(8), zeros(4)))) == "mvhd at byte 32: its timescale is 0")
    }
}
