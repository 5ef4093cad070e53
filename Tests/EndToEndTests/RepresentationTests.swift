import Foundation
import TestSupport
import Testing

/// A segment's URL stands for the same bytes in each request, on each connection, and after a restart.
@Suite("A segment's URL")
struct RepresentationTests {
    typealias Recipe = SubstitutionFixture.Recipe

    static let recipes = [
        Recipe(isMuxed: true), Recipe(isFragmented: true, isMuxed: true),
        Recipe(codec: "hevc", isFragmented: true, isMuxed: true),
    ]

    /// The parts of the body that each URL gave so far.
    private struct Bodies {
        private var known: [String: (tag: String, size: Int?, parts: [(start: Int, bytes: Data)])] = [:]
        /// URLs whose body was replaced by another one, complete.
        private(set) var replaced: Set<String> = []

        /// Compares an answer with the earlier ones for the URL.
        mutating func compare(_ answer: HTTPAnswer, of url: String, mayReplace: Bool) {
            guard answer.status == 200 || answer.status == 206 else { return }
            let range = answer["content-range"].map { $0.split { " -/".contains($0) }.compactMap { Int($0) } }
            let start = range?.first ?? 0
            let size = answer.status == 206 ? range?.last : answer["content-length"].flatMap { Int($0) }
            let tag = answer["etag"] ?? ""
            #expect(!tag.isEmpty, "no entity tag: \(url)")
            guard var body = known[url] else { return known[url] = (tag, size, [(start, answer.body)]) }
            let isSame = body.size == nil || size == nil || body.size == size
            let fits = body.parts.allSatisfy { part in
                let low = max(part.start, start)
                let high = min(part.start + part.bytes.count, start + answer.body.count)
                guard low < high else { return true }
                return Data(part.bytes.dropFirst(low - part.start).prefix(high - low))
                    == Data(answer.body.dropFirst(low - start).prefix(high - low))
            }
            if isSame, fits {
                body.parts.append((start, answer.body))
                body.size = body.size ?? size
                return known[url] = body
            }
            // The representation is gone: all of another one, with another tag.
            #expect(mayReplace && answer.status == 200 && tag != body.tag, "mixed: \(url) \(answer.status) \(tag)")
            replaced.insert(url)
            known[url] = (tag, size, [(start, answer.body)])
        }
    }

    /// Requests a path as players do: whole, from a byte on, in two ranges, or the end of it.
    private func ask(
        _ scene: Scene, _ path: String, _ dice: inout SeededDice, _ bodies: inout Bodies, mayReplace: Bool
    ) async throws {
        let middle = Int.random(in: 1..<4000, using: &dice)
        let ranges: [String?] =
            switch Int.random(in: 0..<5, using: &dice) {
            case 0: [nil]
            case 1: ["bytes=0-"]
            case 2: ["bytes=\(middle)-"]
            case 3: ["bytes=0-\(middle)", "bytes=\(middle + 1)-"]
            default: ["bytes=\(middle)-\(middle + 900)", "bytes=-500"]
            }
        for range in ranges {
            try await fetch(scene, path, range, &bodies, mayReplace: mayReplace)
        }
    }

    /// - Parameter path: the URL of a daemon that is started again has another port.
    private func fetch(
        _ scene: Scene, _ path: String, _ range: String?, _ bodies: inout Bodies, mayReplace: Bool = false
    ) async throws {
        let fields = range.map { ["Range": $0] } ?? [:]
        let answer = try await HTTPProbe.fetch(await scene.weir.url(path), fields: fields)
        bodies.compare(answer, of: path, mayReplace: mayReplace)
    }

    /// The paths of the segments of a rendition in an entry playlist; of the only variant if `id` is nil.
    private func segments(_ scene: Scene, _ entry: String, _ id: String?) async throws -> [String] {
        let lists = try await PlaylistWalk.references(at: await scene.weir.url(entry)).filter {
            $0.contains("media.m3u8") && !$0.contains("audio")
        }
        guard let list = lists.first(where: { path in id.map { path.contains("/\($0)/") } ?? true }) else {
            throw TimedOut("a rendition in \(entry)")
        }
        let references = try await PlaylistWalk.references(at: list)
        // Players load the initialization section before the segments.
        for url in references where url.contains("init") {
            _ = try await HTTPProbe.fetch(url)
        }
        let segments = references.filter { !$0.contains("init") }.map { URL(string: $0)?.path() ?? $0 }
        try #require(segments.count == SubstitutionFixture.count, "\(entry)")
        return segments
    }

    /// A scene, and the segments of one session for each: the lower rendition, all of which is stored, the higher one, and
    /// the one that Weir chooses for players that cannot adapt.
    private func withFilm(
        _ recipe: Recipe,
        _ body: (Scene, inout Bodies, (low: [String], high: [String], chosen: [String])) async throws -> Void
    ) async throws {
        let fixture = try await SubstitutionFixture(recipe)
        try await Scene.with(root: fixture.folder.path) { scene in
            var bodies = Bodies()
            let url = scene.origin.url("/film/master.m3u8")
            let low = try await segments(scene, "/" + url, fixture.ids.low)
            for path in low {
                try await fetch(scene, path, nil, &bodies)
            }
            let high = try await segments(scene, "/" + url, fixture.ids.high)
            let chosen = try await segments(scene, "/auto/" + url, nil)
            try await body(scene, &bodies, (low, high, chosen))
        }
    }

    @Test("gives the same bytes while another quality is stored, and after a kill", arguments: recipes)
    func staysWhileAnotherQualityIsStored(recipe: Recipe) async throws {
        try await withFilm(recipe) { scene, bodies, film in
            for path in film.high[..<6] + film.chosen[..<6] {
                try await fetch(scene, path, nil, &bodies)
            }
            try await scene.origin.stop()
            for path in film.high[6..<9] {
                try await fetch(scene, path, nil, &bodies)
            }
            let high = try #require(film.high[0].split(separator: "/").dropLast().last)
            let offline = try await segments(scene, "/offline/film.m3u8", String(high))
            for _ in 0..<2 {
                for path in film.low[..<6] + film.high[..<9] + film.chosen[..<6] + offline {
                    try await fetch(scene, path, nil, &bodies)
                    try await fetch(scene, path, "bytes=700-1200", &bodies)
                }
                try await scene.weir.kill()
                try await scene.weir.start()
            }
            #expect(bodies.replaced.isEmpty)
        }
    }

    /// In any order: requests in the manner of each player, bodies cut short, an origin that comes and goes, and kills.
    @Test("never mixes two representations", arguments: recipes)
    func neverMixes(recipe: Recipe) async throws {
        let seed = UInt64.random(in: 0 ... .max)
        print("RepresentationTests: seed \(seed)")
        var dice = SeededDice(state: seed)
        try await withFilm(recipe) { scene, bodies, film in
            let paths = film.high + film.chosen
            // Without a segment of the higher rendition nobody knows that both are cut alike, and a player waits for the origin.
            try await fetch(scene, film.high[0], nil, &bodies)
            var isDown = false
            for _ in 0..<80 {
                switch Int.random(in: 0..<20, using: &dice) {
                case 0:
                    if isDown {
                        try await scene.origin.restart()
                    } else {
                        try await scene.origin.stop()
                    }
                    isDown.toggle()
                case 1:
                    try await scene.weir.kill()
                    try await scene.weir.start()
                case 2 where !isDown:
                    let file = "/film/*/\(Int.random(in: 0..<SubstitutionFixture.count, using: &dice)).*"
                    try await scene.origin.add(OriginRule(file) { ($0.cutAfter, $0.times) = (500, 1) })
                default:
                    guard let path = paths.randomElement(using: &dice) else { continue }
                    try await ask(scene, path, &dice, &bodies, mayReplace: true)
                }
            }
            if isDown {
                try await scene.origin.restart()
            }
            for path in paths {
                try await fetch(scene, path, nil, &bodies, mayReplace: true)
            }
        }
    }
}
