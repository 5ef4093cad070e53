import Foundation
import TestSupport
import Testing

@testable import SegmentFormat

@Suite("Committed segments")
struct SeedTests {
    static let names = ["avc", "avc-muxed", "hevc-muxed", "avc-absolute", "avc-by-fragment", "avc-encrypted"]

    /// The playlist's initialization section, another rendition's, and a segment of the latter.
    private struct Seed {
        let playlist: InitializationSection
        let source: InitializationSection
        let initialization: [UInt8]
        let segment: [UInt8]

        init(_ name: String) throws {
            let path = Repository.path("fixtures/segments/\(name).mp4")
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            let ends = try Box.topLevel(of: bytes).filter { $0.type == "moov" }.map(\.range.upperBound)
            try #require(ends.count == 2)
            initialization = Array(bytes[..<ends[0]])
            playlist = try InitializationSection(initialization)
            source = try InitializationSection(Array(bytes[ends[0]..<ends[1]]))
            segment = Array(bytes[ends[1]...])
        }
    }

    @Test("are spliced without losing a sample", arguments: names)
    func keepsSamples(name: String) throws {
        let seed = try Seed(name)
        // Absolute offsets of a whole file are wrong in a part of it.
        if name == "avc-absolute" {
            #expect(throws: SegmentFormatError.self) {
                try SplicePair(of: seed.source, behind: seed.playlist).splice(ByteSource(seed.segment))
            }
            return
        }
        let spliced = try SplicePair(of: seed.source, behind: seed.playlist).splice(ByteSource(seed.segment))
            .joined(with: seed.segment)
        var expected = try samples(of: seed.segment, seed.source)
        let video = try #require(seed.source.tracks.first { $0.handler == "vide" })
        let sets = try #require(video.sampleEntries[0].configuration?.inBand)
        let first = try #require(expected[video.id]?.first)
        expected[video.id]?[0] = sets + first
        #expect(try samples(of: spliced, seed.playlist) == expected)
    }

    @Test("that are encrypted decode to the same pictures when spliced")
    func decodesEncryptedSplice() async throws {
        let seed = try Seed("avc-encrypted")
        let splicePair = SplicePair(of: seed.source, behind: seed.playlist)
        #expect(splicePair.verdict == .equivalent && seed.source.isEncrypted)
        let spliced = try splicePair.splice(ByteSource(seed.segment)).joined(with: seed.segment)
        #expect(spliced.count > seed.segment.count)
        let folder = try TemporaryFolder()
        let key = ["-decryption_key", "00112233445566778899aabbccddeeff"]
        let (plain, changed) = (
            try folder.write(Data(seed.initialization + seed.segment), to: "a.mp4"),
            try folder.write(Data(seed.initialization + spliced), to: "b.mp4")
        )
        let expected = try await Playlist.frames(of: plain, options: key)
        #expect(expected.streams.first?.frames.count == 4)
        let found = try await Playlist.frames(of: changed, options: key)
        #expect(found == expected)
    }
}
