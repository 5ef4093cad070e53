import Foundation
import TestSupport
import Testing

@Suite("The page, in Chromium:") struct PageTests {
    @Test(
        "a URL shows its variants, downloads the selection, pauses, resumes, adds tracks, and shows progress")
    func downloadsSelection() async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/cmaf/video-180p/*.m4s") { $0.hold = true })
            try await scene.withPage { page in
                try await page.wait(#"document.querySelector(".empty")?.innerText.includes("Nothing is stored yet")"#)
                try await page.run(
                    "document.getElementById('add-url').value = '\(scene.origin.master("cmaf"))'; "
                        + "document.getElementById('add-form').requestSubmit()")
                try await page.wait("document.querySelector('.chooser')")
                let choices: [String] = try await page.evaluate(
                    "[...document.querySelectorAll('.chooser .choice')].map(c => c.innerText.replace(/\\s+/g, ' '))")
                #expect(
                    choices.count == 6 && choices[0].hasPrefix("270p") && choices[0].contains("about "), "\(choices)")
                try await page.run(
                    "document.querySelector('.chooser input[value=\"video-180p\"]').click(); "
                        + "document.querySelector('.chooser [type=submit]').click()")
                try await page.wait(for: "Downloading", in: "cmaf")
                try await page.unfold("cmaf")
                try await page.wait("\(BrowserPage.row("cmaf")).querySelectorAll('.track').length === 2")
                try await page.click("Pause", of: "cmaf")
                try await page.wait(for: "Paused at", in: "cmaf")
                #expect(try await page.evaluate("document.activeElement.textContent") == "Resume")
                try await scene.origin.clearRules()
                try await scene.origin.release()
                try await page.click("Resume", of: "cmaf")
                try await page.wait(for: "Saved", in: "cmaf")
                try await page.wait(for: "all of 0:12", in: "cmaf")
                #expect(
                    try await scene.origin.requests().allSatisfy {
                        !$0.path.contains("270p/") || $0.path.hasSuffix("m3u8")
                    })
                try await page.click("Add tracks", of: "cmaf")
                try await page.wait("document.querySelector('.row .chooser')")
                try await page.run(
                    "const f = document.querySelector('.row .chooser'); f.querySelector('input[value=fr]').click(); f.requestSubmit()"
                )
                try await page.wait("\(BrowserPage.row("cmaf")).querySelectorAll('.chip-saved').length >= 3")
                try await expectOwnRequestsOnly(page, scene)
            }
        }
    }

    /// A stream whose subtitles players show unasked, and whose best picture has twins that differ in their sound.
    private static func twins() throws -> String {
        let master = String(decoding: try Repository.fixture("/cmaf/master.m3u8"), as: UTF8.self)
        let hidden = "DEFAULT=NO,AUTOSELECT=YES,URI=\"subtitles"
        let shown = master.replacing(hidden, with: hidden.replacing("NO", with: "YES"))
        let surround =
            "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"wide\",NAME=\"English\",LANGUAGE=\"en\",DEFAULT=YES,AUTOSELECT=YES,"
            + "CHANNELS=\"6\",URI=\"audio-fr/media.m3u8\"\n"
        let variant =
            "#EXT-X-STREAM-INF:BANDWIDTH=200000,CODECS=\"avc1.640015,ec-3\",RESOLUTION=480x270,AUDIO=\"wide\",SUBTITLES=\"text\"\n"
        return shown + surround + variant + "video-270p/media.m3u8\n"
    }

    @Test("proposes what the command takes: picture, sound and subtitles")
    func proposesWhatTheCommandTakes() async throws {
        let text = try Self.twins()
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/cmaf/*.m3u8?by=*") { ($0.status, $0.body) = (200, text) })
            let urls = ["page", "command"].map { scene.origin.url("/cmaf/\($0).m3u8?by=\($0)") }
            try await scene.withPage { page in
                try await page.run(
                    "document.getElementById('add-url').value = '\(urls[0])'; document.getElementById('add-form').requestSubmit()"
                )
                try await page.wait("document.querySelector('.chooser')")
                let names: [String] = try await page.evaluate(
                    "[...document.querySelectorAll('.chooser input')].filter(i => i.checked).map(i => i.value)")
                #expect(names == ["video-270p", "en", "en"], "\(names)")
                try await page.run("document.querySelector('.chooser').requestSubmit()")
                try await page.wait(for: "Saved", in: "page")
            }
            #expect(try await scene.weir.run(["get", urls[1]]).exit == .code(0))
            var tracks: [[String]] = []
            for name in ["page", "command"] {
                let shown = try await scene.weir.run(["show", name]).output.split(separator: "\n")
                tracks.append(shown.filter { $0.hasSuffix("  saved") }.map(String.init))
            }
            #expect(tracks[0] == tracks[1] && tracks[0].count >= 3, "\(tracks)")
        }
    }

    /// Expects that the page requests only the daemon and logs no problems.
    private func expectOwnRequestsOnly(_ page: BrowserPage, _ scene: Scene) async throws {
        let own = "http://localhost:\(await scene.weir.port)/"
        let requests = try await page.requests()
        #expect(requests.count > 10 && requests.allSatisfy { $0.hasPrefix(own) }, "\(requests)")
        #expect(try await page.problems() == [])
    }

    @Test("a deletion waits ten seconds, can be undone, and does not happen if the page is left")
    func undoesDeletion() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            // The wait is shortened here.
            let haste = "{ const slow = setInterval; window.setInterval = (f, t) => slow(f, t / 20); }"
            let calm = "window.setInterval = () => 0;"
            func exists() async throws -> Bool { try await scene.weir.run(["show", "ts"]).exit == .code(0) }
            try await scene.withPage(preparing: calm) { page in
                try await page.click("Delete", of: "ts")
                try await page.wait(for: "will be deleted in ten seconds, which frees", in: "ts")
                #expect(try await page.evaluate("document.activeElement.textContent") == "Undo")
                try await page.run("document.activeElement.click()")
                try await page.wait("\(BrowserPage.button("Delete", of: "ts")) === document.activeElement")
                try await page.click("Delete", of: "ts")
                try await page.open("about:blank")
                #expect(try await exists())
            }
            try await scene.withPage(preparing: haste) { page in
                try await page.click("Delete", of: "ts")
                try await page.wait("!\(BrowserPage.row("ts"))")
                try await page.wait("document.getElementById('status').textContent.includes('is deleted')")
                #expect(try await !exists() && scene.pieces().isEmpty)
                #expect(try await page.problems() == [])
            }
        }
    }

    @Test("a film goes on in the page where it was left there, and begins anew at a click")
    func goesOn() async throws {
        let video = "document.querySelector('dialog video')"
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            try await scene.withPage { page in
                try await page.click("Play", of: "ts")
                try await page.run("\(video).muted = true; \(video).currentTime = 6")
                try await page.wait("\(video).currentTime > 6.1")
                try await page.run("document.querySelector('dialog [aria-label^=Close]').click()")
                try await page.wait(for: " % seen", in: "ts")
                try await page.click("Play", of: "ts")
                try await page.run("\(video).muted = true")
                try await page.wait("\(video).currentTime > 6")
                try await page.wait("document.querySelector('dialog').innerText.includes('Goes on at 0:06')")
                try await page.run("document.querySelector('dialog .notice button').click()")
                try await page.wait("\(video).currentTime < 6")
                #expect(try await page.problems() == [])
            }
        }
    }

    @Test("stored assets play in the page without origin, with the player's position")
    func playsInPage() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            try await scene.origin.stop()
            try await scene.withPage { page in
                try await page.click("Play", of: "ts")
                try await page.run("document.querySelector('dialog video').muted = true")
                try await page.wait("document.querySelector('dialog video').currentTime > 0.5")
                try await page.unfold("ts")
                try await page.wait(for: "playing ", in: "ts")
                try await page.run("document.querySelector('dialog [aria-label^=Close]').click()")
                try await page.wait("!document.querySelector('dialog')")
                #expect(try await page.evaluate("document.activeElement.textContent") == "Play")
                try await expectOwnRequestsOnly(page, scene)
                try await page.click("Details", of: "ts")
                try await page.wait("\(BrowserPage.row("ts")).querySelector('.sources')")
            }
            // A browser without HLS shows so, with alternatives.
            try await scene.withPage(preparing: "HTMLMediaElement.prototype.canPlayType = () => ''") { page in
                try await page.click("Play", of: "ts")
                try await page.wait("document.querySelector('dialog').innerText.includes('cannot play HLS')")
                let port = await scene.weir.port
                #expect(
                    try await page.evaluate("document.querySelector('dialog code').textContent")
                        == "mpv http://localhost:\(port)/ts.m3u8")
            }
        }
    }

    @Test("the switch toggles offline mode, a reload keeps access, and a link that has ended is explained")
    func switchesNetwork() async throws {
        try await Scene.with { scene in
            try await scene.withPage { page in
                try await page.wait("!document.getElementById('network').hidden")
                try await page.run("document.getElementById('network').click()")
                try await page.wait("document.getElementById('network').getAttribute('aria-checked') === 'false'")
                #expect(try await scene.weir.run(["mode"]).output == "offline\n")
                try await page.run("document.getElementById('network').click()")
                try await page.wait("document.getElementById('network').getAttribute('aria-checked') === 'true'")
                #expect(try await scene.weir.run(["mode"]).output == "auto\n")
                // The address has no key, and still gives access.
                let own = "http://localhost:\(await scene.weir.port)/"
                #expect(try await page.evaluate("location.href") == own)
                try await page.open(own)
                try await page.wait("!(document.getElementById('tools')?.hidden ?? true)")
                #expect(try await scene.weir.run(["page", "--revoke"]).exit == .code(0))
                try await page.wait("document.getElementById('trouble').innerText.includes('weir page')")
                try await page.open(own)
                try await page.wait("document.body.innerText.includes('This link is no longer valid')")
            }
        }
    }

    @Test("an answer that later answers and events overtake does not bring an old state back")
    func keepsTheLatestState() async throws {
        let holds = """
            const ask = window.fetch;
            window.held = [];
            window.fetch = async (url, options) => {
                const answer = await ask(url, options);
                if (window.isHolding && /(resume|assets\\/cmaf)$/.test(url)) await new Promise(go => window.held.push(go));
                return answer;
            };
            """
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/cmaf/video-90p/*.m4s") { $0.hold = true })
            try await scene.add(scene.origin.master("cmaf"), ["-q", "worst", "--no-start"])
            try await scene.withPage(preparing: holds) { page in
                try await page.wait(for: "Downloading", in: "cmaf")
                try await page.click("Pause", of: "cmaf")
                try await page.wait(for: "Paused at", in: "cmaf")

                try await page.run("window.isHolding = true")
                try await page.click("Resume", of: "cmaf")
                try await page.wait("window.held.length >= 2")
                try await page.run("window.isHolding = false")
                try await scene.origin.clearRules()
                try await scene.origin.release()
                let badge = "\(BrowserPage.row("cmaf")).querySelector('.badge')"
                try await page.wait("\(badge).innerText.toLowerCase() === 'saved'")

                // The old answers come, and then the list is drawn again.
                try await page.run("window.held.forEach(go => go()); \(badge).textContent = 'drawn before'")
                try await page.run("document.getElementById('find').dispatchEvent(new Event('input'))")
                try await page.wait("\(badge).textContent !== 'drawn before'")
                #expect(try await page.evaluate("\(badge).innerText.toLowerCase()") == "saved")
                #expect(try await page.evaluate("\(BrowserPage.row("cmaf")).querySelector('.doing').hidden"))
            }
        }
    }

    @Test("changes by commands appear on the page, and the focus stays")
    func showsOutsideChanges() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst", "--name", "a"])
            try await scene.get("cmaf", ["-q", "worst", "--name", "b"])
            try await scene.withPage { page in
                try await expectNames(["a", "b"], on: page)
                try await expectNewNames(on: page, scene)
                try await expectNewPolicyAndMode(on: page, scene)
                try await expectImportMoveAndRemoval(on: page, scene)
                try await expectPlayedAsset(on: page, scene)
                #expect(try await page.problems() == [])
            }
        }
    }

    /// Expects the page to list these assets, in this order.
    private func expectNames(_ names: [String], on page: BrowserPage) async throws {
        try await page.wait(
            "[...document.querySelectorAll('.row')].map(r => r.dataset.name).join() === '\(names.joined(separator: ","))'"
        )
    }

    /// Expects that a row takes its new name and title and keeps the focus, and that a freed name is reused at once.
    private func expectNewNames(on page: BrowserPage, _ scene: Scene) async throws {
        try await page.run("document.querySelectorAll('.row')[0].querySelector('button').focus()")
        try await scene.change("rename", "a", "zebra", "--title", "A zebra")
        try await expectNames(["zebra", "b"], on: page)
        try await page.wait(for: "A zebra", in: "zebra")
        #expect(try await page.evaluate("document.activeElement.closest('.row').dataset.name") == "zebra")

        try await scene.change("rename", "b", "a")
        try await expectNames(["zebra", "a"], on: page)
    }

    /// Expects that a row shows its policy, and the switch the mode.
    private func expectNewPolicyAndMode(on page: BrowserPage, _ scene: Scene) async throws {
        try await scene.change("policy", "zebra", "--expires", "30d")
        try await page.wait(for: "until ", in: "zebra")
        try await scene.change("policy", "zebra", "--expires", "never")
        try await page.wait("!\(BrowserPage.row("zebra")).textContent.includes('until ')")

        for (mode, isChecked) in [("offline", false), ("auto", true)] {
            try await scene.change("mode", mode)
            try await page.wait("document.getElementById('network').getAttribute('aria-checked') === '\(isChecked)'")
        }
    }

    /// Expects that an import appears, a moved asset shows its disk, and a removed one goes.
    private func expectImportMoveAndRemoval(on page: BrowserPage, _ scene: Scene) async throws {
        try await scene.change("import", Repository.path("fixtures/media/audio"), "--name", "sound")
        try await expectNames(["sound", "zebra", "a"], on: page)
        try await page.wait(for: "Saved", in: "sound")

        let folder = try TemporaryFolder()
        try await page.click("Details", of: "zebra")
        try await scene.change("move", "zebra", folder.path("disk"))
        try await page.wait(for: folder.path("disk"), in: "zebra")

        try await scene.change("remove", "--yes", "zebra")
        try await expectNames(["sound", "a"], on: page)
    }

    /// Expects that an asset without a download appears when it is played, and disappears when it is removed.
    private func expectPlayedAsset(on page: BrowserPage, _ scene: Scene) async throws {
        _ = try await HTTPProbe.fetch(scene.master("ts"))
        try await expectNames(["ts", "sound", "a"], on: page)
        try await scene.change("remove", "--yes", "ts")
        try await expectNames(["sound", "a"], on: page)
    }

    @Test("progress at fifty events per second is drawn at most four times per second")
    func limitsRedraws() async throws {
        // A fake event stream instead of the daemon's, and an observer of changes of the row's text.
        let script = """
            { const real = fetch; window.changes = [];
              window.fetch = async (url, more) => String(url).includes('/events') ? new Response(new ReadableStream({start(to) {
                const say = (name, data) => to.enqueue(new TextEncoder().encode(`event: ${name}\\ndata: ${JSON.stringify(data)}\\n\\n`));
                say('snapshot', {downloads: []});
                let n = 0;
                const timer = setInterval(() => {
                    say('progress', {id: 'x', asset: 'ts', state: 'running', loaded: [], expected: [], parts: [], fraction: n / 200, rate: 1000 + n, eta: 9,
                        bytes: n, totalBytes: 200, selection: {variants: [], audio: [], subtitles: []}});
                    if (++n > 150) clearInterval(timer);
                }, 20);
              } })) : real(url, more);
              new MutationObserver(all => { if (all.some(m => m.target.className?.includes?.('doing'))) changes.push(performance.now()) })
                .observe(document, {subtree: true, childList: true}); }
            """
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            try await scene.withPage(preparing: script) { page in
                try await page.wait(for: "Downloading, 75 %", in: "ts")
                let times: [Double] = try await page.evaluate("changes")
                let pauses = zip(times, times.dropFirst()).map { $1 - $0 }
                #expect(pauses.count >= 4 && pauses.allSatisfy { $0 > 230 }, "\(pauses)")
            }
        }
    }

    /// Ten thousand assets in place of the daemon's, in parts of five hundred.
    private static let tenThousandAssets = """
        { const real = fetch; const some = n => ({name: `film-${n}`, id: `film-${n}-x`, title: `Film number ${n}`, url: 'https://h/m', isLive: false,
            duration: 60 + n, bytes: n % 3 ? n * 1000 : 0, local: ['no', 'partial', 'yes'][n % 3],
            state: ['not-stored', 'partly-saved', 'saved'][n % 3], stored: ['not-stored', 'partly-saved', 'saved'][n % 3], parts: [],
            tracks: {variants: [{id: 'video-720p', height: 720, bandwidth: 1e6, stored: 'not-stored', isComplete: false, bytes: 0}], audio: [], subtitles: []}});
          const all = Array.from({length: 10000}, (_, n) => some(n));
          const json = value => new Response(JSON.stringify(value), {headers: {'Content-Type': 'application/json'}});
          window.fetch = async (url, more) => {
            const at = new URL(url, location);
            if (at.pathname === '/api/v1/assets') {
                const after = at.searchParams.get('after'), begin = after ? all.findIndex(a => a.name === after) + 1 : 0, page = all.slice(begin, begin + 500);
                return json({assets: page, ...(begin + 500 < all.length ? {next: page.at(-1).name} : {})});
            }
            const one = at.pathname.match(/assets\\/film-(\\d+)$/);
            return one ? json(all[one[1]]) : real(url, more);
          } }
        """

    @Test("ten thousand assets can be searched, filtered and browsed")
    func browsesManyAssets() async throws {
        try await Scene.with { scene in
            try await scene.withPage(preparing: Self.tenThousandAssets) { page in
                try await page.wait("document.getElementById('count').textContent === '10,000 assets'")
                try await expectFewRowsAtBothEnds(of: page)
                try await expectNoEmptyWindow(of: page)
                try await expectFocusKept(by: page)
                try await expectSearchAndFilter(of: page)
                #expect(try await page.problems() == [])
            }
        }
    }

    /// A JavaScript expression that is true if a row is visible.
    private func isInWindow(_ name: String) -> String {
        "(r => r && r.top < innerHeight && r.bottom > 0)(\(BrowserPage.row(name))?.getBoundingClientRect())"
    }

    /// Expects that keys jump to the end and back, and that the document never has all rows.
    private func expectFewRowsAtBothEnds(of page: BrowserPage) async throws {
        func expectFewRows() async throws {
            let rows: Int = try await page.evaluate("document.querySelectorAll('.row').length")
            #expect((10...200).contains(rows))
        }
        try await expectFewRows()
        for (key, film) in [("End", 9999), ("Home", 0), ("End", 9999)] {
            try await page.press(key)
            try await page.wait(isInWindow("film-\(film)"))
            try await expectFewRows()
        }
        let position: String = try await page.evaluate(
            "document.querySelector('.row[data-name=film-9999]').ariaPosInSet")
        #expect(position == "10000")
    }

    /// Expects that fast scrolling never shows an empty window: the room of rows that are not there is as high as they are.
    private func expectNoEmptyWindow(of page: BrowserPage) async throws {
        let blank: Int = try await page.evaluate(
            """
            (async () => {
                const frame = () => new Promise(requestAnimationFrame);
                const isIn = row => { const box = row.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; };
                scrollTo(0, 0);
                await frame();
                let blank = 0;
                for (let turn = 0; turn < 20; turn += 1) {
                    scrollBy(0, innerHeight * 20);
                    await frame();
                    if (![...document.querySelectorAll('.row')].some(isIn)) blank += 1;
                }
                return blank;
            })()
            """)
        #expect(blank == 0)
    }

    /// Expects that Tab reaches the next rows, which exist by then, and that the focused row stays while others scroll by.
    private func expectFocusKept(by page: BrowserPage) async throws {
        try await page.press("Home")
        try await page.wait(isInWindow("film-0"))
        try await page.run("document.querySelector('.row[data-name=film-0] button').focus()")
        for _ in 0..<200 {
            try await page.press("Tab")
        }
        let reached: String = try await page.evaluate("document.activeElement.closest('.row')?.dataset.name ?? ''")
        #expect((Int(reached.dropFirst(5)) ?? 0) > 30, "\(reached)")

        try await page.run("scrollTo(0, document.documentElement.scrollHeight)")
        try await page.wait(isInWindow("film-9999"))
        #expect(try await page.evaluate("document.activeElement.closest('.row')?.dataset.name") == reached)
    }

    /// Expects that words find one film, and that a filter counts its films.
    private func expectSearchAndFilter(of page: BrowserPage) async throws {
        try await page.run(
            "const f = document.getElementById('find'); f.value = 'number 9876'; f.dispatchEvent(new Event('input'))"
        )
        try await page.wait("document.querySelectorAll('.row').length === 1")
        #expect(try await page.evaluate("document.querySelector('.row h3').textContent") == "Film number 9876")

        try await page.run(
            "document.getElementById('find').value = ''; const s = document.getElementById('show'); s.value = 'saved'; s.dispatchEvent(new Event('change'))"
        )
        try await page.wait("document.getElementById('count').textContent === '3,333 of 10,000 assets'")
    }
}

extension Scene {
    /// Runs a command that changes something beside the page.
    fileprivate func change(_ words: String...) async throws {
        let result = try await weir.run(words)
        guard result.exit == .code(0) else { throw TimedOut("\(words): \(result.errors)") }
    }
}
