import Foundation
import TestSupport
import Testing

@testable import SegmentFormat

@Suite("Segments of two renditions behind one initialization section")
struct SplicedPlaybackTests {
    static let recipes = ["avc", "hevc"].flatMap { codec in
        [false, true].map { EncodedLadder.Recipe(codec: codec, isMuxed: $0) }
    }

    /// Other ways in which packagers lay samples out; a base of its own in each track fragment is a place in a whole
    /// file.
    static let layouts = [
        EncodedLadder.Recipe(isMuxed: true, flags: "frag_keyframe+delay_moov+default_base_moof"),
        EncodedLadder.Recipe(isMuxed: true, flags: "frag_keyframe+delay_moov+omit_tfhd_offset"),
        EncodedLadder.Recipe(isMuxed: true, flags: "frag_keyframe+empty_moov+separate_moof+default_base_moof"),
        EncodedLadder.Recipe(flags: "frag_keyframe+cmaf+delay_moov+skip_trailer"),
        EncodedLadder.Recipe(codec: "hevc", flags: "frag_keyframe+empty_moov+default_base_moof+negative_cts_offsets"),
        EncodedLadder.Recipe(flags: "frag_keyframe+delay_moov+default_base_moof", reordered: 0),
    ]

    /// High, low from the third on, and high again for the last two: all that the rule of `Joint` asks for.
    private static func composite(_ ladder: EncodedLadder) throws -> [[UInt8]] {
        let (high, low) = (try ladder.high.section, try ladder.low.section)
        let foreign = Joint(of: low, behind: high)
        #expect(foreign.verdict == .needsInBandParameterSets)
        let own = Joint(of: high, behind: high)
        #expect(own.verdict == .equivalent)
        return try ladder.high.segments.indices.map { index in
            if index < 2 { return ladder.high.segments[index] }
            let (joint, segment) =
                index < 4 ? (foreign, ladder.low.segments[index]) : (own, ladder.high.segments[index])
            let splice = try joint.splice(ByteSource(segment))
            let joined = splice.joined(with: segment)
            #expect(joined.count == splice.count)
            return joined
        }
    }

    @Test("decode to each source's own frames, without a warning", arguments: recipes + layouts)
    func frames(recipe: EncodedLadder.Recipe) async throws {
        let ladder = try await EncodedLadder(recipe)
        let playlist = try Playlist(
            initialization: ladder.high.initialization, segments: try Self.composite(ladder))
        let found = try await playlist.frames()
        #expect(found.errors == "")
        let (high, low) = (ladder.high.frames.streams, ladder.low.frames.streams)
        #expect(high[0].frames.count == 60 && low[0].frames.count == 60)
        let expected = high[0].frames[..<20] + low[0].frames[20..<40] + high[0].frames[40...]
        #expect(found.streams.count == high.count)
        #expect(found.streams.first?.frames == Array(expected))
        if recipe.isMuxed { #expect(found.streams.last?.frames == high.last?.frames) }
    }

    @Test("that are not spliced do not decode to these frames", arguments: recipes)
    func unspliced(recipe: EncodedLadder.Recipe) async throws {
        let ladder = try await EncodedLadder(recipe)
        let segments = ladder.high.segments[..<2] + ladder.low.segments[2..<4] + ladder.high.segments[4...]
        let playlist = try Playlist(initialization: ladder.high.initialization, segments: Array(segments))
        let found = try await playlist.frames()
        #expect(found.streams.first?.frames[20..<40] != ladder.low.frames.streams[0].frames[20..<40])
    }

    @Test("play to the end", arguments: recipes + layouts.suffix(1), [Player.mpv, .vlc])
    func players(recipe: EncodedLadder.Recipe, player: Player) async throws {
        try await play(recipe, player)
    }

    /// Chromium has no decoder of HEVC.
    @Test("play to the end in a browser", arguments: (recipes + layouts.suffix(1)).filter { $0.codec == "avc" })
    func browser(recipe: EncodedLadder.Recipe) async throws {
        try await play(recipe, .chromium)
    }

    private func play(_ recipe: EncodedLadder.Recipe, _ player: Player) async throws {
        let ladder = try await EncodedLadder(recipe)
        let playlist = try Playlist(
            initialization: ladder.high.initialization, segments: try Self.composite(ladder))
        let origin = try await TestOrigin(root: playlist.folder.path)
        let report = try await player.play(origin.url("/media.m3u8"))
        #expect(report.ended)
        #expect(try #require(report.position) >= 3)
        #expect(PlayerBaseline(player, "cmaf").newProblems(in: report) == [])
    }
}
