import Foundation
import TestSupport
import Testing

@Suite("Weir killed at any moment")
struct KillTests {
    @Test("loses no piece, serves no wrong piece, and needs no manual repair", .namingCases)
    func recoversAfterEachPiece() async {
        await sideBySide(["aes", "byterange-fmp4", "cmaf"]) { try await expectRecoveryAfterEachPiece(of: $0) }
    }

    private func expectRecoveryAfterEachPiece(of fixture: String) async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/\(fixture)/*") { $0.throttle = 150_000 })
            // First while playlists are fetched, then after one more piece each time.
            for moment in 0..<9 {
                let before = scene.pieces().count
                try await scene.origin.clearRequests()
                let get = try scene.weir.begin(["get", scene.origin.master(fixture)])
                try await waitUntil("moment \(moment)") {
                    // All pieces may be stored by now.
                    if get.exit != nil {
                        return true
                    }
                    if moment < 3 {
                        return try await scene.origin.requests().count > moment
                    }
                    return scene.pieces().count > before
                }
                try await scene.weir.kill()
                _ = try await get.end()
                #expect(try await scene.repetitions() == [:])
                try await scene.weir.start()
            }
            let kept = scene.pieces()
            // The resumed download may have requests in progress, but none for stored pieces.
            let get = try await scene.get(fixture)
            #expect(get.exit == .code(0), "\(get.errors)")
            #expect(Set(kept).isSubset(of: scene.pieces()))
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/\(fixture).m3u8"), ofBestOf: fixture)
            try await scene.weir.restart()
            try await expectFrames(scene.weir.url("/\(fixture).m3u8"), ofBestOf: fixture)
        }
    }

    /// Each run ends after a random number of origin bytes, from none (the daemon has just started) to several
    /// segments.
    @Test("many times at random finishes, requests no piece twice, and has every byte")
    func finishesAfterManyKills() async throws {
        let lives = OncePerRun.isThorough ? 200 : 50
        let seed = UInt64.random(in: 0 ... .max)
        print("KillTests: seed \(seed)")
        var dice = SeededDice(state: seed)
        try await Scene.with(isStarted: false) { scene in
            let playlist = "/_vod/500x8000/media.m3u8"
            let length = 500 * 8000
            // All lives together have time for the whole film.
            let most = 2 * length / lives
            try await scene.origin.add(OriginRule("*.ts") { $0.throttle = 100_000 })
            try await scene.weir.start()
            let get = try scene.weir.begin(["get", scene.origin.url(playlist)])
            try await waitUntil("a piece") { !scene.pieces().isEmpty }
            var kept: Set<String> = []
            var before: Int = 0
            for life in 0..<lives {
                let bytes = try await scene.bytesSent()
                let target = bytes + Int.random(in: 0...most, using: &dice)
                try await waitUntil("\(target) bytes in life \(life) of seed \(seed)") {
                    let sent = try await scene.bytesSent()
                    // A look through the folder takes much longer than one at the origin.
                    return sent >= target || (sent >= length && scene.pieces().count == 500)
                }
                try await scene.weir.kill()
                let again = try await scene.origin.requests().dropFirst(before).filter { !$0.isComparison }.map(\.path)
                    .filter(kept.contains)
                #expect(again == [], "life \(life) of seed \(seed)")
                kept = Set(scene.pieces().compactMap { $0.split(separator: "/").last.map { "/_vod/500x8000/\($0)" } })
                before = try await scene.origin.requests().count
                try await scene.weir.start()
            }
            _ = try await get.end()
            #expect(try await scene.weir.run(["get", scene.origin.url(playlist)]).exit == .code(0))
            let pieces = scene.pieces()
            #expect(pieces.count == 500)
            for piece in pieces {
                let name = piece.split(separator: "/").last ?? ""
                let answer = try await HTTPProbe.fetch(scene.origin.url("/_vod/500x8000/\(name)"))
                #expect(try Data(contentsOf: URL(fileURLWithPath: piece)) == answer.body, "\(name), seed \(seed)")
            }
        }
    }

    @Test("refetches no stored piece")
    func refetchesNothing() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/ts/*") { $0.throttle = 100_000 })
            let get = try scene.weir.begin(["get", scene.origin.master("ts")])
            try await waitUntil("half of the pieces") { scene.pieces().count >= 3 }
            try await scene.weir.kill()
            _ = try await get.end()
            let kept = scene.pieces().count
            try await scene.origin.clearRequests()
            try await scene.weir.start()
            try await scene.waitForCompletion(of: "ts")
            #expect(try await scene.mediaRequests().count == 6 - kept)
        }
    }
}

extension Scene {
    /// Body bytes sent by the origin.
    fileprivate func bytesSent() async throws -> Int { try await origin.requests().reduce(0) { $0 + $1.bytes } }
}
