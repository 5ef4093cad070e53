import Foundation
import TestSupport
import Testing

@Suite("The fixtures")
struct FixtureTests {
    /// Decoded streams of each presentation: variants, video and audio.
    private static let streams: [String: (video: Int, audio: Int)] = [
        "aes": (2, 2), "aes-noiv": (2, 2), "audio": (0, 2), "byterange-fmp4": (2, 2), "byterange-ts": (2, 2),
        "cmaf": (3, 2),
        "ts": (3, 3),
    ]

    @Test(
        "decode whole and without an error from a plain origin, no frame like another", arguments: Repository.fixtures)
    func decodesFixture(fixture: String) async throws {
        let origin = try await TestOrigin()
        let hashes = try await FrameHashes.of(origin.master(fixture))
        let expected = try #require(FixtureTests.streams[fixture])
        #expect(hashes.streams.filter { $0.mediaType == "video" }.count == expected.video)
        #expect(hashes.streams.filter { $0.mediaType == "audio" }.count == expected.audio)
        for stream in hashes.streams {
            #expect(stream.frames.count == (stream.mediaType == "video" ? 120 : 564))
            #expect(Set(stream.frames.map(\.hash)).count == stream.frames.count)
        }
        // ffmpeg 5.1 has no WebVTT renditions and says so.
        let complaints = hashes.errors.split(separator: "\n").filter { !$0.contains("subtitle") }
        #expect(complaints.isEmpty)
    }

    @Test("a lost or changed frame is reported")
    func reportsDifferences() {
        let text = "#media_type 0: video\n#dimensions 0: 160x90\n#tb 0: 1/10\n0, 0, 0, 1, 9, aa\n0, 1, 1, 1, 9, bb\n"
        let whole = FrameHashes(framemd5: text)
        #expect(whole.firstDifference(from: whole) == nil)
        let short = FrameHashes(framemd5: text.replacingOccurrences(of: "0, 1, 1, 1, 9, bb\n", with: ""))
        #expect(short.firstDifference(from: whole) == "stream 0, video 160x90: 1 frames instead of 2")
        let changed = FrameHashes(framemd5: text.replacingOccurrences(of: "bb", with: "cc"))
        #expect(changed.firstDifference(from: whole)?.contains("frame 1") == true)
        #expect(changed.firstDifference(fromPartOf: whole) != nil && whole.firstDifference(fromPartOf: whole) == nil)
        let both = FrameHashes(
            framemd5: text
                + text.replacingOccurrences(of: " 0: ", with: " 1: ")
                .replacingOccurrences(of: "0, ", with: "1, ").replacingOccurrences(of: "160x90", with: "320x180"))
        #expect(whole.firstDifference(from: both) != nil && whole.firstDifference(fromPartOf: both) == nil)
        #expect(FrameHashes(framemd5: "").firstDifference(fromPartOf: whole) == "no stream at all")
    }
}
