import Foundation
import TestSupport
import Testing

/// Real browsers play on the page what Weir has: each kind of media, and what is stored in part or still grows.
///
/// Firefox plays by hls.js, which the daemon finds in a usual folder or by `WEIR_PAGE_PLAYER` in the environment of the test. Without
/// it, its way is "Open in a player".
@Suite("The page plays in Chromium and in Firefox", .serialized) struct PageBrowsersTests {
    enum Kind: String, CaseIterable {
        case transportStream, fragments, demuxedSound, subtitles, encrypted, partlySaved, growingRecording
    }

    private static let video = "document.querySelector('dialog video')"

    /// The Firefox of all of these tests.
    private static let firefox = Task { try await Browser(.firefox) }

    @Test("Chromium, by its own player", arguments: Kind.allCases)
    func chromium(kind: Kind) async throws { try await expect(kind, in: try await PageBrowser.shared) }

    @Test(
        "Firefox, by hls.js or else by the user's own player",
        .enabled(if: Browser.Program.firefox.isInstalled, "Firefox is not installed"), arguments: Kind.allCases)
    func firefox(kind: Kind) async throws { try await expect(kind, in: try await Self.firefox.value) }

    private func expect(_ kind: Kind, in browser: Browser) async throws {
        // Longer than any other part of the test.
        let live = kind == .growingRecording ? try await LiveOrigin(seconds: 60) : nil
        try await Scene.with { scene in
            let name = try await prepare(kind, scene, live)
            let page = try await browser.page()
            try await page.open(try await scene.pageLink())
            try await page.click("Play", of: name)
            let plays = """
                \(Self.video).canPlayType('application/vnd.apple.mpegurl') !== ''
                    || document.querySelector('meta[name=weir-player]').content !== ''
                """
            if try await page.evaluate("(\(plays))") {
                try await page.run("\(Self.video).muted = true")
                try await page.wait("\(Self.video).currentTime > 1 && \(Self.video).videoWidth > 0")
                try await expect(kind, on: page, scene)
            } else {
                try await expectOtherPlayer(on: page)
            }
            try await page.close()
        }
    }

    /// Stores what is played, and returns its name.
    private func prepare(_ kind: Kind, _ scene: Scene, _ live: LiveOrigin?) async throws -> String {
        switch kind {
        case .transportStream: try await scene.get("ts", ["-q", "worst"])
        case .fragments: try await scene.get("cmaf", ["-q", "worst"])
        case .demuxedSound: try await scene.get("cmaf", ["-q", "worst", "--audio", "en,fr"])
        case .subtitles: try await scene.get("cmaf", ["-q", "worst", "--subs", "en"])
        case .encrypted: try await scene.get("aes", ["-q", "worst"])
        case .partlySaved: try await scene.get("ts", ["-q", "worst", "--range", "0-6"])
        case .growingRecording:
            let url = try #require(live).master("event", for: "page")
            #expect(try await scene.weir.run(["add", "--record", "--name", "show", url]).exit == .code(0))
            return "show"
        }
        // Without the origin, only stored media can play.
        try await scene.origin.stop()
        switch kind {
        case .transportStream, .partlySaved: return "ts"
        case .encrypted: return "aes"
        default: return "cmaf"
        }
    }

    private func expect(_ kind: Kind, on page: BrowserPage, _ scene: Scene) async throws {
        switch kind {
        case .demuxedSound:
            try await page.choose("Français", in: "Sound")
            try await page.wait("\(Self.video).currentTime > 2")
            let hasSound = "\(Self.video).mozHasAudio || \(Self.video).webkitAudioDecodedByteCount > 0"
            try await page.wait("(\(hasSound))")
        case .subtitles:
            try await page.choose("English", in: "Subtitles")
            let shows = "t => t.kind === 'subtitles' && t.mode === 'showing' && t.cues?.length === 12"
            try await page.wait("[...\(Self.video).textTracks].some(\(shows))")
        case .growingRecording:
            // It plays on in what came after the player was opened.
            let recorded = try await length(of: "show", scene)
            try await page.wait("\(Self.video).currentTime > \(recorded + 1)", within: .seconds(60))
        default:
            try await page.wait("\(Self.video).currentTime > 2")
        }
        #expect(
            try await page.evaluate("document.querySelector('dialog .trouble, dialog .notice [role=alert]') === null"))
    }

    /// The seconds that are listed of an asset.
    private func length(of name: String, _ scene: Scene) async throws -> Double {
        let text = try await HTTPProbe.fetch(scene.weir.url("/\(name).m3u8")).text
        let media = try #require(PlaylistWalk.references(in: text).first)
        let lines = try await HTTPProbe.fetch(scene.weir.url(media)).text.split(separator: "\n")
        return lines.reduce(0) { sum, line in
            guard line.hasPrefix("#EXTINF:") else { return sum }
            return sum + (Double(line.dropFirst(8).prefix { $0 != "," }) ?? 0)
        }
    }

    /// Expects the reason, the command for a terminal, and the button that starts the user's player.
    private func expectOtherPlayer(on page: BrowserPage) async throws {
        try await page.wait(
            "document.querySelector('dialog .notice').innerText.includes('This browser cannot play HLS')")
        #expect(try await page.evaluate("document.querySelector('dialog code').textContent.startsWith('mpv http')"))
        #expect(try await page.evaluate("document.querySelector('dialog [aria-label^=\"Open in mpv\"]') !== null"))
    }
}
