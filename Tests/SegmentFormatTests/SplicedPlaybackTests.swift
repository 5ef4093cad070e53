import Foundation
import TestSupport
import Testing

@testable import SegmentFormat

@Suite("Segments of two renditions behind one initialization section")
struct SplicedPlaybackTests {
    static let recipes = ["avc", "hevc"].flatMap { codec in
        [false, true].map { EncodedLadder.Recipe(codec: codec, isMuxed: $0) }
    }

    /// Other sample layouts of packagers. Without `default_base_moof`, a track fragment's base is an offset in the whole
    /// file.
    static let layouts = [
        EncodedLadder.Recipe(isMuxed: true, flags: "frag_keyframe+delay_moov+default_base_moof"),
        EncodedLadder.Recipe(isMuxed: true, flags: "frag_keyframe+delay_moov+omit_tfhd_offset"),
        EncodedLadder.Recipe(isMuxed: true, flags: "frag_keyframe+empty_moov+separate_moof+default_base_moof"),
        EncodedLadder.Recipe(flags: "frag_keyframe+cmaf+delay_moov+skip_trailer"),
        EncodedLadder.Recipe(codec: "hevc", flags: "frag_keyframe+empty_moov+default_base_moof+negative_cts_offsets"),
        EncodedLadder.Recipe(flags: "frag_keyframe+delay_moov+default_base_moof", reordered: 0),
    ]

    /// The playlist's own rendition, the other one for segments 2 and 3, then its own again, spliced by the rule of
    /// `SplicePair`.
    private static func composite(_ own: EncodedLadder.Rendition, _ other: EncodedLadder.Rendition) throws -> Playlist {
        let section = try own.section
        let foreign = try other.section
        let there = SplicePair(of: foreign, behind: section)
        #expect(there.verdict == .needsInBandParameterSets)
        let back = SplicePair(of: section, behind: section)
        #expect(back.verdict == .equivalent)
        let segments = try own.segments.indices.map { index in
            if index < 2 {
                return own.segments[index]
            }
            let (splicePair, segment) = index < 4 ? (there, other.segments[index]) : (back, own.segments[index])
            let splice = try splicePair.splice(ByteSource(segment))
            let joined = splice.joined(with: segment)
            #expect(joined.count == splice.count)
            return joined
        }
        return try Playlist(initialization: own.initialization, segments: segments)
    }

    @Test("decode to each source's own frames, without a warning", .namingCases, arguments: [true, false])
    func decodesOwnFrames(beginsHigh: Bool) async {
        await sideBySide(Self.recipes + Self.layouts) { recipe in
            let ladder = try await EncodedLadder.of(recipe)
            let own = beginsHigh ? ladder.high : ladder.low
            let other = beginsHigh ? ladder.low : ladder.high
            if recipe.reordered == 0, !beginsHigh {
                // Its edit list leaves no delay for reordered pictures.
                guard case .cannotBeJoined = SplicePair(of: try other.section, behind: try own.section).verdict else {
                    Issue.record("joined")
                    return
                }
                return
            }
            let found = try await Self.composite(own, other).frames()
            #expect(found.errors == "")
            let frames = own.frames.streams[0].frames
            let others = other.frames.streams[0].frames
            #expect(frames.count == 60 && others.count == 60)
            #expect(found.streams.count == own.frames.streams.count)
            #expect(found.streams.first?.frames == Array(frames[..<20] + others[20..<40] + frames[40...]))
            if recipe.isMuxed {
                #expect(found.streams.last?.frames == own.frames.streams.last?.frames)
            }
        }
    }

    @Test("decode to other frames if not spliced", .namingCases)
    func decodesOtherFramesUnspliced() async {
        await sideBySide(Self.recipes) { recipe in
            let ladder = try await EncodedLadder.of(recipe)
            let segments = ladder.high.segments[..<2] + ladder.low.segments[2..<4] + ladder.high.segments[4...]
            let playlist = try Playlist(initialization: ladder.high.initialization, segments: Array(segments))
            let found = try await playlist.frames()
            #expect(found.streams.first?.frames[20..<40] != ladder.low.frames.streams[0].frames[20..<40])
        }
    }

    private static let played = recipes + layouts.suffix(1)

    @Test("play to the end, down and up", .namingCases, arguments: [Player.mpv, .vlc])
    func playsToTheEnd(player: Player) async {
        let down = Self.played.map { ($0, true) }
        let up = Self.played.filter { $0.reordered > 0 }.map { ($0, false) }
        await sideBySide(down + up) { recipe, beginsHigh in
            try await play(recipe, player, beginsHigh: beginsHigh)
        }
    }

    /// Chromium has no HEVC decoder.
    @Test("play to the end in a browser", .namingCases)
    func playsToTheEndInBrowser() async {
        await sideBySide(Self.played.filter { $0.codec == "avc" }) { recipe in
            try await play(recipe, .chromium, beginsHigh: true)
        }
    }

    private func play(_ recipe: EncodedLadder.Recipe, _ player: Player, beginsHigh: Bool) async throws {
        let ladder = try await EncodedLadder.of(recipe)
        let own = beginsHigh ? ladder.high : ladder.low
        let other = beginsHigh ? ladder.low : ladder.high
        let playlist = try Self.composite(own, other)
        let origin = try await TestOrigin(root: playlist.folder.path)
        let report = try await player.play(origin.url("/media.m3u8"))
        withExtendedLifetime(playlist) {}
        #expect(report.ended)
        #expect(try #require(report.position) >= 3)
        #expect(PlayerBaseline(player, "cmaf").newProblems(in: report) == [])
    }
}
