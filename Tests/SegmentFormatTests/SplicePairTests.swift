import Testing

@testable import SegmentFormat

@Suite("Two initialization sections")
struct SplicePairTests {
    private static let plain = HandMadeSection()

    private static func changed(_ change: (inout HandMadeSection) -> Void) -> HandMadeSection {
        var section = HandMadeSection(sound: HandMadeSection.sound(rate: 64_000))
        change(&section)
        return section
    }

    private func verdict(_ change: (inout HandMadeSection) -> Void) throws -> SplicePair.Verdict {
        SplicePair(of: try Self.changed(change).section, behind: try Self.changed { _ in }.section).verdict
    }

    @Test("are equivalent if they differ only in bit rates, names and free space")
    func ignoresBitRatesAndFreeSpace() throws {
        #expect(try verdict { _ in } == .equivalent)
        #expect(try verdict { $0.sound = HandMadeSection.sound(rate: 128_000) } == .equivalent)
        #expect(try verdict { $0.entryBoxes = box("btrt", zeros(12)) + box("free", [1]) } == .equivalent)
        // The media time of the second edit cancels the empty edit.
        #expect(try verdict { $0.edits = [(200, -1), (0, 200)] } == .equivalent)
    }

    @Test("that differ in parameter sets need them in-band")
    func needsInBandParameterSets() throws {
        let other = HandMadeSection.avc([[0x67, 9]], [[0x68, 9]])
        let needed = SplicePair.Verdict.needsInBandParameterSets
        #expect(try verdict { $0.configuration = other } == needed)
        #expect(
            try verdict {
                $0.configuration = other
                $0.dimensions = [320, 180]
                $0.entryBoxes = box("colr", zeros(10)) + box("pasp", zeros(8))
            } == needed)
        #expect(try verdict { $0.format = "avc3" } == needed)
        #expect(try verdict { $0.defaults[1] = 40 } == needed)
        // Composition offsets shift pictures, and may only grow.
        let plain = try Self.plain.section
        let moved = try HandMadeSection(edits: [(0, 200)]).section
        #expect(SplicePair(of: plain, behind: moved).verdict == needed)
        let reason = "track 1 (vide): its edit list moves it by another time than the playlist's"
        #expect(SplicePair(of: moved, behind: plain).verdict == .cannotBeJoined(reason))
    }

    @Test("that differ in anything else cannot be spliced, and the first difference is reported")
    func refusesOtherDifferences() throws {
        func reason(_ change: (inout HandMadeSection) -> Void) throws -> String? {
            guard case .cannotBeJoined(let reason) = try verdict(change) else { return nil }
            return reason
        }
        #expect(try reason { $0.sound = nil } == "the tracks are 1 (vide), and 1 (vide), 2 (soun) in the playlist")
        #expect(
            try reason { $0.timescale = 90 } == "track 1 (vide): its timescale is 90, and 1000 in the playlist")
        #expect(try reason { $0.format = "hvc1" } == "track 1 (vide): it is coded as hvc1, and as avc1 in the playlist")
        #expect(
            try reason { $0.configuration = HandMadeSection.avc([], [], lengthSize: 2) }
                == "track 1 (vide): its NAL units have lengths of 2 bytes, and of 4 in the playlist")
        #expect(
            try reason { $0.configuration = [] }
                == "track 1 (vide): just one of the two has a decoder configuration")
        #expect(
            try reason { $0.dimensions = [4, 4] }
                == "track 1 (vide): it is shown at another size than the playlist's, though it is coded alike")
        #expect(
            try reason { $0.entryBoxes = box("dvcC", [1]) } == "track 1 (vide): its dvcC is not as in the playlist")
        #expect(
            try reason { $0.entryBoxes = Self.protection }
                == "track 1 (vide): its encryption differs from the playlist's")
        #expect(
            try reason { $0.sound = HandMadeSection.sound(rate: 64_000, channels: 1) }
                == "track 2 (soun): its mp4a entry has other fields than the playlist's")
        #expect(
            try reason { $0.edits = [(0, 200)] }
                == "track 1 (vide): its edit list moves it by another time than the playlist's")
        // Audio has no composition offsets.
        let plain = try Self.changed { _ in }.section
        let moved = try Self.changed { $0.edits = [(0, 200)] }.section
        let sound = "track 2 (soun): its edit list moves it by another time than the playlist's"
        #expect(SplicePair(of: plain, behind: moved).verdict == .cannotBeJoined(sound))
        #expect(
            try reason { $0.handler = "auxv" } == "track 1 (vide): it holds auxv, and vide in the playlist")
    }

    private static let protection = box(
        "sinf", box("frma", Array("avc1".utf8)), fullBox("schm", Array("cenc".utf8), zeros(4)),
        box("schi", fullBox("tenc", [0, 0, 1, 8], zeros(16))))

    @Test("with the same encryption are equivalent")
    func acceptsSameEncryption() throws {
        let section = try HandMadeSection(format: "encv", entryBoxes: Self.protection).section
        #expect(section.isEncrypted)
        #expect(section.tracks[0].sampleEntries[0].format == "avc1")
        #expect(SplicePair(of: section, behind: section).verdict == .equivalent)
    }

    @Test("list their parameter sets")
    func listsParameterSets() throws {
        let entry = try HandMadeSection().section.tracks[0].sampleEntries[0]
        #expect(entry.configuration?.parameterSets == [[0x67, 1, 2], [0x68, 3]])
        #expect(entry.configuration?.lengthSize == 4)
        #expect(entry.dimensions == [160, 90])
    }

    @Test("of ffmpeg's renditions are parsed and compared", arguments: ["180p", "270p"])
    func comparesFixtures(name: String) throws {
        func section(_ name: String) throws -> InitializationSection {
            try InitializationSection(Fixture.bytes("cmaf/video-\(name)/init.mp4"))
        }
        let read = try section(name)
        #expect(read.tracks.map(\.timescale) == [10_240])
        #expect(read.tracks[0].edit.ticks(timescale: 10_240) == 0)
        #expect(SplicePair(of: read, behind: try section("90p")).verdict == .needsInBandParameterSets)
        #expect(SplicePair(of: read, behind: read).verdict == .equivalent)
        let audio = try InitializationSection(Fixture.bytes("cmaf/audio-en/init.mp4"))
        let refused = SplicePair(of: audio, behind: read).verdict
        #expect(refused == .cannotBeJoined("track 1 (vide): it holds soun, and vide in the playlist"))
    }
}
