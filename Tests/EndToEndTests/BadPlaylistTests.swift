import Foundation
import TestSupport
import Testing

/// Responses of an origin that are not the expected playlist.
@Suite("A response that is not a playlist")
struct BadPlaylistTests {
    /// A response, the words in Weir's error, and the exit code of a download if all playlists are like that.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let words: String
        let change: @Sendable (inout OriginRule) -> Void
        var status = 502
        var exit: Int32 = 76
    }

    private static let cases = [
        Case(testDescription: "HTML", words: "HTML") { $0.html = true },
        Case(testDescription: "JSON", words: "JSON") {
            ($0.status, $0.body) = (200, "{\"error\": \"no\"}")
        },
        Case(testDescription: "nothing", words: "names nothing to play") { ($0.status, $0.body) = (200, "") },
        Case(testDescription: "something else", words: "something else") { ($0.status, $0.body) = (200, "hello") },
        Case(testDescription: "404", words: "404", change: { $0.status = 404 }, status: 404),
        Case(testDescription: "500", words: "500") { $0.status = 500 },
        Case(testDescription: "401", words: "401", change: { $0.status = 401 }, status: 401, exit: 77),
        Case(testDescription: "a playlist cut in its first line", words: "names nothing to play") { $0.truncate = 5 },
        Case(testDescription: "a redirect loop", words: "redirect") { $0.redirect = "/ts/270p/media.m3u8" },
    ]

    @Test("at the entry URL gives an error with the reason, and nothing is stored", arguments: cases)
    func refusesEntry(example: Case) async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*.m3u8", example.change))
            let answer = try await HTTPProbe.fetch(scene.master("ts"))
            #expect(answer.status == example.status && answer.isComplete, "\(answer.status) \(answer.text)")
            #expect(answer.text.contains(example.words) && answer.text.contains(".\n"), "\(answer.text)")
            let get = try await scene.get("ts")
            #expect(get.exit == .code(example.exit) && get.errors.contains(example.words), "\(get.exit) \(get.errors)")
            #expect(try await scene.weir.run(["list", "--json"]).output == "")
            #expect(scene.pieces() == [])
            // The failure is not cached.
            try await scene.origin.clearRules()
            #expect(try await HTTPProbe.fetch(scene.master("ts")).status == 200)
        }
    }

    @Test("at a rendition's URL gives an error with the reason", arguments: cases)
    func refusesRendition(example: Case) async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("*/270p/media.m3u8", example.change))
            let variants = try await PlaylistWalk.segments(scene.master("ts"))
            let answer = try await HTTPProbe.fetch(try #require(variants.last))
            #expect(answer.status == example.status && answer.isComplete, "\(answer.status) \(answer.text)")
            #expect(answer.text.contains(example.words) && answer.text.contains(".\n"), "\(answer.text)")
            #expect(try await HTTPProbe.fetch(variants[0]).status == 200)
            // The next best quality is kept, and the exit code says so.
            let get = try await scene.get("ts")
            #expect(get.exit == .code(3) && get.errors.contains(example.words), "\(get.exit) \(get.errors)")
            try await scene.origin.clearRules()
            #expect(try await HTTPProbe.fetch(try #require(variants.last)).status == 200)
            #expect(try await scene.get("ts").exit == .code(0))
        }
    }
}
