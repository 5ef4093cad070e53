import Foundation
import TestSupport
import Testing

@Suite("The tracks that \"weir play\" and \"weir url\" choose")
struct ChoiceTests {
    @Test("are played alone, frame for frame, and nothing else is fetched or cached")
    func arePlayedAlone() async throws {
        try await Scene.with { scene in
            let command = ["url", scene.origin.master("cmaf"), "-q", "180p", "--audio", "fr", "--subs", "none"]
            let url = try await scene.weir.run(command).output.trimmingCharacters(in: .newlines)

            let played = try await FrameHashes.of(url)
            #expect(played.streams.count == 2)
            let whole = try await PlainFrames.of("cmaf")
            #expect(played.firstDifference(fromPartOf: whole) == nil)

            let folders = Set(
                try await scene.mediaRequests().compactMap { $0.path.split(separator: "/").dropFirst().first })
            let fetched = folders.subtracting(["video-180p", "audio-fr"])
            #expect(fetched.isEmpty, "\(fetched)")
            let shown = try await scene.weir.run(["show", "cmaf"]).output
            let cached = shown.split(separator: "\n").filter { $0.hasSuffix("cached") }.map { $0.prefix(8) }
            #expect(cached == ["180p 320", "audio fr"], "\(shown)")
        }
    }

    @Test("are refused with a reason before the player starts, if they cannot be read")
    func areRefused() async throws {
        try await Scene.with { scene in
            let source = scene.origin.master("cmaf")
            let unreadable = try await scene.weir.run(["play", source, "-q", "720"])
            #expect(unreadable.exit == .code(64) && unreadable.errors.contains("did you mean 720p?"))
            let adaptive = try await scene.weir.run(["url", source, "--auto", "-q", "90p"])
            #expect(adaptive.exit == .code(64) && adaptive.errors.contains("--auto lets Weir choose the quality"))
        }
    }
}
