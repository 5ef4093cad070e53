import Foundation
import Glibc
import TestSupport
import Testing

@Suite("The picture of a session")
struct SessionPictureTests {
    /// The number of marks of each source in a picture.
    private func marks(_ svg: String) -> [String: Int] {
        svg.matches(of: /class="mark (\w+)"/).reduce(into: [:]) { $0[String($1.1), default: 0] += 1 }
    }

    private func picture(_ scene: Scene, _ options: String...) async throws -> String {
        let result = try await scene.weir.run(["log", "ts", "--picture", "-"] + options)
        #expect(result.exit == .code(0), "\(result.errors)")
        return result.output
    }

    @Test("has a mark for each segment, also after a restart, and is the page's too")
    func isDrawnByTheCommandAndThePage() async throws {
        try await Scene.with { scene in
            let entry = try await HTTPProbe.fetch(scene.master("ts")).text
            let lowest = try #require(PlaylistWalk.references(in: entry).first)
            _ = try await FrameHashes.of(scene.weir.url(lowest))
            #expect(marks(try await picture(scene)) == ["origin": 6])
            _ = try await FrameHashes.of(await scene.weir.url("/ts.m3u8"))
            #expect(marks(try await picture(scene))["store"] ?? 0 >= 6)
            let file = scene.weir.state + "/session.svg"
            let written = try await scene.weir.run(["log", "ts", "--picture", file])
            #expect(written.output.contains("session.svg: ") && written.output.contains("from the store"))
            #expect(try String(contentsOfFile: file, encoding: .utf8).hasSuffix("</svg>\n"))

            #expect(try await scene.weir.terminate() == .code(0))
            try await scene.weir.start()
            let log = try await scene.weir.run(["log", "ts", "--format", "json"]).output
            let guid = try #require(log.firstMatch(of: /"guid":"([^"]+)"/)?.1)
            #expect(marks(try await picture(scene, "--session", String(guid))) == ["origin": 6])
            try await scene.withPage { page in
                try await page.click("Details", of: "ts")
                let figure = "\(BrowserPage.row("ts")).querySelector('.session-picture')"
                try await page.wait("\(figure)?.naturalWidth > 200")
                #expect(try await page.evaluate("\(figure).alt.includes('from the store')"))
                #expect(try await page.evaluate("\(BrowserPage.row("ts")).querySelectorAll('option').length") == 2)
                try await page.run(
                    "const s = \(BrowserPage.row("ts")).querySelector('select'); s.value = '\(guid)'; s.dispatchEvent(new Event('change'))"
                )
                try await page.wait("\(figure).alt.startsWith('6 segments: 6 from the origin')")
            }
        }
    }

    @Test("of a daemon that was killed is there again, with what it had at most a minute before")
    func survivesAKill() async throws {
        try await Scene.with { scene in
            let mpv = try MPV(
                [await scene.master("ts"), "--loop-file=inf", "--no-audio"], scene.weir, hasScript: false)
            let file = scene.weir.state + "/log/sessions-running.log"
            try await waitUntil("a copy", within: .seconds(60)) { FileManager.default.fileExists(atPath: file) }
            let before = marks(try await picture(scene))
            try await scene.weir.kill()
            mpv.process.send(SIGKILL)
            _ = try await mpv.process.end()
            try await scene.weir.start()
            let after = marks(try await picture(scene))
            #expect(after["origin"] ?? 0 >= 6 && after["origin"] == before["origin"], "\(after), before \(before)")
            #expect(!FileManager.default.fileExists(atPath: file))
        }
    }

    @Test("of nothing played, or to a folder that does not exist, is an error with the next step")
    func isRefusedWithAReason() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            let none = try await scene.weir.run(["log", "ts", "--picture", "-"])
            #expect(
                none.exit == .code(66) && none.errors.contains("nothing was played")
                    && none.errors.contains("weir play ts"))
            #expect(try await scene.weir.run(["log", "ts", "--picture", "-", "--kpi"]).exit == .code(64))
            _ = try await FrameHashes.of(await scene.weir.url("/ts.m3u8"))
            let lost = try await scene.weir.run(["log", "ts", "--picture", scene.weir.state + "/none/session.svg"])
            #expect(lost.exit == .code(73) && lost.errors.contains("none/session.svg"), "\(lost.errors)")
        }
    }
}
