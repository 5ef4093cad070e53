import Foundation
import TestSupport
import Testing

/// An origin whose content differs from the stored revision.
@Suite("A new revision at the origin")
struct RevisionTests {
    private func asset(_ scene: Scene) async throws -> [String: Any] {
        let shown = try await scene.weir.run(["show", "film", "--json"])
        #expect(shown.exit == .code(0), "\(shown.errors)")
        return try #require(JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any])
    }

    @Test("is fetched beside the stored one, which plays until the new one is complete and is then deleted")
    func fetchesBesideStoredRevision() async throws {
        let film = try ChangingFilm("ts")
        try await Scene.with(root: film.root) { scene in
            let first = try await scene.get("film", ["-q", "best"])
            #expect(first.exit == .code(0), "\(first.errors)")
            try film.change(to: "cmaf")
            try await scene.weir.kill()
            try await scene.weir.start()
            // A player's request detects the new revision; the stored one keeps playing.
            try await expectFrames(scene.weir.url("/film.m3u8"), ofBestOf: "ts")
            _ = try await FrameHashes.of(scene.master("film"))
            #expect(try await asset(scene)["hasChanged"] as? Bool == true)
            #expect(try await scene.weir.run(["show", "film"]).output.contains("\"weir get film\" fetches the new"))

            try await scene.origin.add(OriginRule("/film/video-270p/*.m4s") { $0.hold = true })
            let added = try await scene.weir.run(["add", "film", "-q", "best"])
            #expect(added.exit == .code(0), "\(added.errors)")
            try await waitUntil("requests for the new") { try await scene.origin.load().paused > 0 }
            #expect(try await asset(scene)["isRevised"] as? Bool == true)
            try await expectFrames(scene.weir.url("/offline/film.m3u8"), ofBestOf: "ts")

            try await scene.origin.clearRules()
            try await scene.origin.release()
            let followed = try await scene.weir.run(["get", "film", "-q", "best"])
            #expect(followed.exit == .code(0), "\(followed.errors)")
            // A recent player may continue with the old revision; after a restart no session remains.
            #expect(try await asset(scene)["isRevised"] as? Bool == true)
            try await scene.weir.kill()
            try await scene.weir.start()
            try await waitUntil("the change of places") { try await asset(scene)["isRevised"] == nil }
            #expect(try await asset(scene)["hasChanged"] == nil)
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/offline/film.m3u8"), ofBestOf: "cmaf")
            #expect(scene.pieces().allSatisfy { !$0.hasSuffix(".ts") })
        }
    }

    @Test("N12: under the same playlists is taken over by weir update, whole, with the same selection")
    func updatesOtherSegments() async throws {
        let film = try ChangingFilm("ts")
        try await Scene.with(root: film.root) { scene in
            #expect(try await scene.get("film", ["-q", "best"]).exit == .code(0))
            let same = try await scene.weir.run(["update", "film"])
            #expect(same.exit == .code(0) && same.output == "film: up to date\n", "\(same)")
            try exchangeSegments(film)
            let changed = try await scene.weir.run(["update", "film"])
            #expect(changed.exit == .code(0) && changed.output.contains("other content"), "\(changed)")
            try await waitUntil("the change of places") { try await asset(scene)["isRevised"] == nil }
            let updated = try await asset(scene)
            #expect(updated["hasChanged"] == nil && updated["state"] as? String == "saved")
            try await expectTheNewOffline(scene)
        }
    }

    /// Expects that all of the best variant, as the origin has it now, plays without the origin.
    private func expectTheNewOffline(_ scene: Scene) async throws {
        let expected = try await FrameHashes.of(scene.origin.url("/film/270p/media.m3u8"))
        try await scene.origin.stop()
        let found = try await FrameHashes.of(scene.weir.url("/offline/film.m3u8"))
        #expect(found.firstDifference(fromPartOf: expected) == nil)
    }

    /// Lays the middle quality's segments under the URLs of the best one. The playlists stay.
    private func exchangeSegments(_ film: ChangingFilm) throws {
        for number in 0..<6 {
            let old = film.root + "/film/270p/\(number).ts"
            let new = film.root + "/film/180p/\(number).ts"
            try FileManager.default.removeItem(atPath: old)
            try FileManager.default.copyItem(atPath: new, toPath: old)
        }
    }

    @Test("N12: under the same playlists is noticed before a half download continues, and fetched whole")
    func noticesOtherSegments() async throws {
        let film = try ChangingFilm("ts")
        try await Scene.with(root: film.root) { scene in
            #expect(try await scene.get("film", ["-q", "best", "--range", "0-5"]).exit == .code(0))
            // After a kill the download might not be recorded as complete, and the daemon would find the new content by itself.
            try await scene.weir.terminate()
            try exchangeSegments(film)
            try await scene.weir.start()
            let got = try await scene.weir.run(["get", "film", "-q", "best"])
            let asked = try await scene.origin.requests().map { "\($0.path) \($0.range ?? "") \($0.bytes)" }
            #expect(
                got.exit == .code(0) && got.errors.contains("the origin has other content now"), "\(got) \(asked)")
            try await waitUntil("the change of places") { try await asset(scene)["isRevised"] == nil }
            try await expectTheNewOffline(scene)
        }
    }

    /// Ends a daemon that has stored the first half of the best variant.
    private func leaveHalf(_ scene: Scene) async throws {
        try await scene.origin.add(OriginRule("/film/270p/[345].ts") { $0.hold = true })
        #expect(try await scene.weir.run(["add", scene.origin.master("film"), "-q", "best"]).exit == .code(0))
        try await scene.waitForPieces(3)
        try await scene.weir.kill()
    }

    /// A daemon that ended before it had recorded that a download is complete finds the new content by itself.
    @Test("is told by a get that comes when the daemon fetches it already")
    func getJoinsARevisionThatTheDaemonBegan() async throws {
        let film = try ChangingFilm("ts")
        try await Scene.with(root: film.root) { scene in
            try await leaveHalf(scene)
            try exchangeSegments(film)
            try await scene.origin.clearRules()
            try await scene.origin.restart()
            try await scene.origin.add(OriginRule("/film/270p/[345].ts") { $0.hold = true })
            try await scene.weir.start()
            try await waitUntil("the new content on its way") { try await scene.origin.load().paused > 0 }
            #expect(try await asset(scene)["isRevised"] as? Bool == true)

            let get = try scene.weir.begin(["get", "film", "-q", "best"])
            let sentence = "film: the origin has other content now: the new is fetched beside the old"
            try await waitUntil("the sentence") { get.standardError.contains(sentence) }
            try await scene.origin.clearRules()
            try await scene.origin.release()
            #expect(try await get.end() == .code(0), "\(get.standardError)")
            try await waitUntil("the change of places") { try await asset(scene)["isRevised"] == nil }
            try await expectTheNewOffline(scene)
        }
    }

    /// The URL of the best variant in a new session.
    private func best(_ scene: Scene) async throws -> String {
        try #require(try await PlaylistWalk.segments(scene.master("film")).first { $0.contains("270p") })
    }

    @Test("W8: a session of the old one plays no segment of the new one")
    func oldSessionStaysOld() async throws {
        let film = try ChangingFilm("ts")
        try await Scene.with(root: film.root) { scene in
            #expect(try await scene.get("film", ["-q", "best", "--range", "0-5"]).exit == .code(0))
            let before = await scene.weir.address
            let paths = try await PlaylistWalk.segments(best(scene)).map { $0.replacing(before, with: "") }
            let old = try (0..<3).map { try Data(contentsOf: URL(fileURLWithPath: film.root + "/film/270p/\($0).ts")) }
            try await scene.weir.kill()
            try exchangeSegments(film)
            try await scene.weir.start()
            // Another session notices the new content, and plays it whole.
            let expected = try await FrameHashes.of(scene.origin.url("/film/270p/media.m3u8"))
            let new = try await FrameHashes.of(best(scene))
            #expect(new.firstDifference(fromPartOf: expected) == nil)
            for (number, path) in paths.enumerated() {
                let answer = try await HTTPProbe.fetch(scene.weir.url(path))
                if number < 3 {
                    #expect(answer.body == old[number], "\(number)")
                } else {
                    #expect(answer.status >= 400)
                }
            }
        }
    }

    @Test("replaces the old one in a download that cannot get the rest")
    func continuesDownloadWithNewRevision() async throws {
        let film = try ChangingFilm("ts")
        try await Scene.with(root: film.root) { scene in
            try await leaveHalf(scene)
            try film.change(to: "aes")
            try await scene.origin.restart()
            try await scene.weir.start()
            let result = try await scene.weir.run(["get", "film", "-q", "best"])
            #expect(result.exit == .code(0), "\(result.errors)")
            #expect(result.output.contains("play now") || result.errors.contains("play now"))
            try await waitUntil("the change of places") { try await asset(scene)["hasChanged"] == nil }
            try await scene.origin.stop()
            try await expectFrames(scene.weir.url("/offline/film.m3u8"), ofBestOf: "aes")
        }
    }

    @Test("is played at once if the old one is only cached")
    func playsNewRevisionAtOnce() async throws {
        let film = try ChangingFilm("ts")
        try await Scene.with(root: film.root) { scene in
            try await scene.origin.add(OriginRule("/film/270p/5.ts") { $0.status = 404 })
            _ = try await FrameHashes.of(scene.master("film"))
            #expect(scene.pieces().count == 17)
            try await scene.origin.clearRules()
            try await scene.weir.kill()
            try film.change(to: "cmaf")
            try await scene.weir.start()
            try await expectFrames(scene.master("film"), of: "cmaf")
            #expect(try await scene.weir.run(["list"]).output.contains("\n1 asset, "))
        }
    }
}
