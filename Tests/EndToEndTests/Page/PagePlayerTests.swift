import Foundation
import TestSupport
import Testing

@Suite("The page's library and player, in Chromium") struct PagePlayerTests {
    private static let video = "document.querySelector('dialog video')"

    @Test("assets are posters, each a frame of its film and its Play button; More opens one, and Posters shows lines")
    func showsPosters() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            try await scene.get("aes", ["-q", "worst"])
            try await scene.withPage { page in
                for name in ["ts", "aes"] {
                    try await page.wait("\(BrowserPage.row(name)).querySelector('.picture img')?.naturalWidth === 480")
                }
                let isPoster = "document.querySelector('.posters') && \(BrowserPage.row("ts")).matches('.row-short')"
                #expect(try await page.evaluate("Boolean(\(isPoster))"))
                try await page.run("\(BrowserPage.button("Play", of: "ts")).click()")
                try await page.wait("\(Self.video).currentTime > 0.2")
                try await page.run("document.querySelector('dialog [aria-label^=Close]').click()")
                try await page.click("More", of: "ts")
                try await page.wait("\(BrowserPage.button("Delete", of: "ts")).checkVisibility()")
                try await page.run("document.getElementById('view').click()")
                try await page.wait("!document.querySelector('.posters')")
                #expect(
                    try await page.evaluate("document.getElementById('view').getAttribute('aria-pressed')") == "false")
                #expect(try await page.problems() == [])
            }
        }
    }

    @Test("subtitles, sound and quality are chosen in the player, which goes on where it was")
    func choosesTracks() async throws {
        try await Scene.with { scene in
            try await scene.get("cmaf", ["-q", "worst"])
            try await scene.withPage { page in
                try await page.run("localStorage.clear()")
                try await page.click("Play", of: "cmaf")
                try await page.run("\(Self.video).muted = true; \(Self.video).currentTime = 4")
                try await page.wait("\(Self.video).currentTime > 4.1")
                try await page.choose("English", in: "Subtitles")
                try await page.wait(
                    "[...\(Self.video).textTracks].some(t => t.kind === 'subtitles' && t.mode === 'showing' && t.cues?.length === 12)"
                )
                try await page.choose("Français", in: "Sound")
                try await page.wait(
                    "\(Self.video).src.includes('/select/audio=fr/cmaf.m3u8') && \(Self.video).currentTime > 4")
                try await page.choose("90p", in: "Quality")
                try await page.wait("\(Self.video).videoHeight === 90 && \(Self.video).currentTime > 4")
                #expect(try await page.problems() == [])
            }
            let paths = try await scene.origin.requests().map(\.path)
            #expect(paths.contains { $0.hasPrefix("/cmaf/audio-fr/") })
        }
    }

    @Test("a chapter that is chosen is where the player goes")
    func choosesChapter() async throws {
        let folder = try TemporaryFolder()
        let chapters = """
            [{"start-time":0,"titles":[{"language":"en","title":"One"}]},
             {"start-time":5.5,"titles":[{"language":"en","title":"Two <b>"}]}]
            """
        try folder.write(Data(chapters.utf8), to: "chapters.json")
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            #expect(try await scene.weir.run(["attach", "ts", folder.path("chapters.json")]).exit == .code(0))
            try await scene.withPage { page in
                try await page.click("Play", of: "ts")
                try await page.run("\(Self.video).muted = true")
                try await page.wait("document.querySelector('.player-choices').textContent.includes(' Two <b>')")
                try await page.choose("Two", in: "Chapter")
                try await page.wait("\(Self.video).currentTime >= 5.5")
                #expect(try await page.problems() == [])
            }
        }
    }

    @Test("a browser without HLS plays by hls.js, where its file is named or in a usual folder")
    func playsByLibrary() async throws {
        let folder = try TemporaryFolder()
        // Stands for hls.js: its interface, as far as the page uses it.
        let library = """
            export default class Hls {
                static Events = {ERROR: 'error'}
                static isSupported() { return true }
                on() {}
                loadSource(path) { this.path = path }
                attachMedia(video) { video.dataset.path = this.path }
                destroy() {}
            }
            """
        try library.write(toFile: folder.path("hls.mjs"), atomically: true, encoding: .utf8)
        try await Scene.with(options: ["--page-player", folder.path("hls.mjs")]) { scene in
            try await scene.get("ts", ["-q", "worst"])
            try await scene.withPage(preparing: "HTMLMediaElement.prototype.canPlayType = () => ''") { page in
                try await page.click("Play", of: "ts")
                try await page.wait("\(Self.video)?.dataset.path === '/ts.m3u8'")
                #expect(try await page.problems() == [])
            }
        }
    }

    @Test("Open in a player starts that of weir play; a daemon without a desktop, and a player that fails, are said")
    func opensPlayer() async throws {
        let folder = try TemporaryFolder()
        let player = folder.path("mpv")
        try "#!/bin/sh\necho \"$@\" > \(folder.path("words"))\n".write(
            toFile: player, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: player)
        try await Scene.with(isStarted: false) { scene in
            for (display, hasPlayer) in [("", true), (":9", false), (":9", true)] {
                let path = hasPlayer ? folder.path : folder.path("none")
                try await scene.weir.start(wrapper: [
                    "/usr/bin/env", "-u", "INVOCATION_ID", "-u", "WAYLAND_DISPLAY", "DISPLAY=\(display)",
                    "PATH=\(path)",
                ])
                try await scene.get("ts", ["-q", "worst"])
                try await scene.withPage { page in
                    try await page.click("Play", of: "ts")
                    try await page.run("document.querySelector('dialog [aria-label^=\"Open in mpv\"]').click()")
                    if display.isEmpty {
                        try await page.wait("document.querySelector('dialog').innerText.includes('without a desktop')")
                    } else if !hasPlayer {
                        try await page.wait(
                            "document.querySelector('dialog').innerText.includes('No player is installed')")
                    } else {
                        try await page.wait("!document.querySelector('dialog')")
                        let words = try String(contentsOfFile: folder.path("words"), encoding: .utf8)
                        #expect(words.contains("/ts.m3u8"), "\(words)")
                    }
                }
                try await scene.weir.terminate()
            }
        }
    }

    @Test("a URL that is being looked at is replaced by the next one, and what comes late is not shown")
    func replacesPendingURL() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/ts/master.m3u8") { $0.hold = true })
            try await scene.withPage { page in
                func enter(_ fixture: String) async throws {
                    try await page.run(
                        "document.getElementById('add-url').value = '\(scene.origin.master(fixture))'; "
                            + "document.getElementById('add-form').requestSubmit()")
                }
                try await enter("ts")
                try await waitUntil("the first look") {
                    try await !scene.origin.requests(for: "/ts/master.m3u8").isEmpty
                }
                try await enter("cmaf")
                try await page.wait("document.querySelectorAll('.chooser .choice').length === 6")
                try await scene.origin.clearRules()
                try await scene.origin.release()
                try await waitUntil("the late answer") {
                    try await scene.origin.requests(for: "/ts/master.m3u8").allSatisfy { $0.state == "done" }
                }
                #expect(try await page.evaluate("document.querySelector('.chooser').ariaLabel.includes('cmaf')"))
                #expect(try await page.problems() == [])
            }
        }
    }
}
