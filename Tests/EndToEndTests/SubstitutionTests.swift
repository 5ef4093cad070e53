import Foundation
import TestSupport
import Testing

/// Substitution: segments that one variant lacks are played from the other.
@Suite("Substitution")
struct SubstitutionTests {
    typealias Recipe = SubstitutionFixture.Recipe

    static let recipes = [
        Recipe(isMuxed: true), Recipe(), Recipe(codec: "hevc", isMuxed: true),
        Recipe(isFragmented: true, isMuxed: true), Recipe(isFragmented: true),
        Recipe(codec: "hevc", isFragmented: true, isMuxed: true), Recipe(codec: "hevc", isFragmented: true),
        Recipe(isFragmented: true, isSetUpAlike: true),
    ]

    /// The recipes that are also played. Players run in real time, so not all are.
    static let played: Set = [
        Recipe(isMuxed: true), Recipe(isFragmented: true), Recipe(codec: "hevc", isFragmented: true, isMuxed: true),
    ]

    /// Loads segments of renditions through Weir, by rendition id, with their initialization sections and keys.
    private func load(_ scene: Scene, _ parts: [String: Range<Int>]) async throws {
        for list in try await PlaylistWalk.references(at: await scene.url("/film/master.m3u8")) {
            guard let part = parts.first(where: { list.contains("/\($0.key)/") })?.value else { continue }
            let all = try await PlaylistWalk.references(at: list)
            let segments = all.filter { !$0.contains("init") }
            for url in all.filter({ $0.contains("init") }) + segments[part.clamped(to: segments.indices)] {
                let answer = try await HTTPProbe.fetch(url)
                #expect(answer.status == 200 && answer.isComplete, "\(url)")
            }
        }
    }

    /// The URLs of the playlists in a multivariant playlist.
    private func lists(_ scene: Scene, _ entry: String) async throws -> [String] {
        var urls: [String] = []
        for path in PlaylistWalk.references(in: try await HTTPProbe.fetch(entry).text) {
            urls.append(await scene.weir.url(path))
        }
        return urls
    }

    @Test("of two partial downloads decodes to each source's frames, without warnings", arguments: recipes)
    func substitutesOffline(recipe: Recipe) async throws {
        let fixture = try await SubstitutionFixture(recipe)
        try await Scene.with(root: fixture.folder.path) { scene in
            let (expected, whole) = try await fixture.expected(scene.origin) { $0 < 10 }
            try await load(scene, [fixture.ids.high: 0..<10, fixture.ids.low: 8..<20, "audio-en": 0..<99])
            try await scene.weir.terminate()
            try await scene.origin.stop()
            try await scene.weir.start()
            let entry = await scene.weir.url("/offline/film.m3u8")
            let lists = try await lists(scene, entry)
            #expect(lists.count == (recipe.isMuxed ? 1 : 2))
            let list = try #require(lists.last)
            #expect(list.contains("/\(fixture.ids.high)/"))
            let text = try await HTTPProbe.fetch(list).text
            #expect(PlaylistWalk.segments(text, at: list).count == 20 && !text.contains("DISCONTINUITY"))
            let frames = try await SubstitutionFixture.frames(entry)
            #expect(frames.pictures == expected)
            #expect(frames.sound == whole.sound && !frames.sound.isEmpty)
            #expect(frames.errors == whole.errors)
            guard Self.played.contains(recipe) else { return }
            let report = try await Player.mpv.play(entry)
            #expect(report.ended && report.position ?? 0 >= 16.5, "\(report)")
        }
    }

    @Test(
        "starts when the network is lost, with the URLs that the player has",
        arguments: [Recipe(isMuxed: true), Recipe(isFragmented: true), Recipe(codec: "hevc", isFragmented: true)])
    func substitutesAfterNetworkLoss(recipe: Recipe) async throws {
        let fixture = try await SubstitutionFixture(recipe)
        try await Scene.with(root: fixture.folder.path) { scene in
            let expected = try await fixture.expected(scene.origin) { $0 < 12 || $0 >= 16 }.pictures
            // Later segments are stored because of a seek.
            try await load(
                scene, [fixture.ids.low: 0..<20, fixture.ids.high: 16..<20, "audio-en": 0..<99])
            let file = "/film/high/12." + (recipe.isFragmented ? "m4s" : "ts")
            try await scene.origin.add(OriginRule(file) { $0.hold = true })
            try await scene.origin.clearRequests()
            let entry = try await lists(scene, await scene.url("/film/master.m3u8"))
            let list = try #require(entry.first { $0.contains("/\(fixture.ids.high)/") })
            async let frames = SubstitutionFixture.frames(list)
            try await waitUntil("the request that is not answered any more") {
                try await scene.origin.requests().contains { $0.path == file }
            }
            try await scene.origin.stop()
            let found = try await frames
            let difference = zip(found.pictures, expected).enumerated().first { $1.0.hash != $1.1.hash }?.offset
            #expect(
                difference == nil && found.pictures.count == expected.count,
                "\(found.pictures.count) pictures, the first other one is \(difference ?? -1)")
            #expect(found.errors == "")
            let log = try await scene.weir.run(["log", "--format", "json", "--errors"])
            #expect(log.output.contains("200"), "\(log.output)")
        }
    }
}
