import Foundation
import TestSupport
import Testing

@Suite("Accessibility of the page: axe-core, keyboard, no scripts, narrow windows") struct PageAccessTests {
    /// Installed by `tools/install tests`.
    private func axe() throws -> String {
        let path = Repository.path(".build/axe/axe_playwright_python/axe.min.js")
        return try #require(try? String(contentsOfFile: path, encoding: .utf8), "no \(path): tools/install tests")
    }

    /// Expects none, and shows those that there are.
    private func expectNoViolation(_ page: BrowserPage, _ part: String) async throws {
        // A colour on its way to another is neither.
        try await page.wait("document.getAnimations().length === 0")
        let found = try await violations(page)
        #expect(found == [], "\(part)")
    }

    /// The violations found by axe-core, one per line.
    private func violations(_ page: BrowserPage) async throws -> [String] {
        try await page.evaluate(
            "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.html} ${n.failureSummary}`)))"
        )
    }

    @Test("axe-core finds no violation, in dark or light mode, in any part of the page")
    func passesAxeCore() async throws {
        let axe = try axe()
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/cmaf/video-270p/*.m4s") { $0.hold = true })
            try await scene.get("ts", ["-q", "worst"])
            try await scene.add(scene.origin.master("cmaf"))
            try await scene.withPage { page in
                try await page.run(axe)
                try await expectFound(on: page)
                for scheme in ["light", "dark"] {
                    try await setColors(scheme, of: page)
                    try await expectNoViolationInRows(of: page, scheme)
                    try await expectNoViolationInPlayer(of: page, scheme, scene)
                }
            }
            try await expectNoViolationAtTheDoor(axe, scene)
        }
    }

    @Test("axe-core finds no violation in channel lists, channels and planned recordings")
    func channelsPassAxeCore() async throws {
        let axe = try axe()
        try await Scene.with { scene in
            let text = "#EXTM3U\n#EXTINF:-1,One\n/_live/one/media.m3u8\n"
            try await scene.origin.add(OriginRule("/tv.m3u") { ($0.status, $0.body) = (200, text) })
            #expect(try await scene.weir.run(["add", scene.origin.url("/tv.m3u"), "--name", "tv"]).exit == .code(0))
            #expect(try await scene.weir.run(["record", "one", "--at", "20:15", "--every", "day"]).exit == .code(0))
            try await scene.withPage { page in
                try await page.run(axe)
                try await page.run(
                    """
                    for (const panel of document.querySelectorAll('.panel')) panel.open = true;
                    const find = document.querySelector('#lists [type=search]');
                    find.value = 'one'; find.dispatchEvent(new Event('input'))
                    """)
                try await page.wait("document.querySelector('#lists [aria-label=\"Record later One\"]')")
                try await page.click("Change", of: "one-2015")
                try await page.wait("document.querySelector('.planner')")
                for scheme in ["light", "dark"] {
                    try await setColors(scheme, of: page)
                    try await expectNoViolation(page, "\(scheme)")
                }
            }
        }
    }

    /// Proves that the check can fail.
    private func expectFound(on page: BrowserPage) async throws {
        try await page.run("document.body.append(document.createElement('img'))")
        #expect(try await violations(page).contains { $0.hasPrefix("image-alt:") })
        try await page.run("document.body.lastChild.remove()")
    }

    private func setColors(_ scheme: String, of page: BrowserPage) async throws {
        try await page.call(
            "Emulation.setEmulatedMedia",
            [
                "features": .objects([
                    ["name": "prefers-color-scheme", "value": scheme],
                    ["name": "prefers-reduced-motion", "value": "reduce"],
                ])
            ])
    }

    /// Expects no violation in the list, with a download in progress, and in the forms and details of its assets.
    private func expectNoViolationInRows(of page: BrowserPage, _ scheme: String) async throws {
        try await page.wait(for: "Downloading", in: "cmaf")
        try await expectNoViolation(page, "\(scheme): the list")
        try await page.click("Add tracks", of: "cmaf")
        try await page.click("Manage", of: "ts")
        try await page.wait("\(BrowserPage.row("ts")).querySelector('.manager')")
        try await expectNoViolation(page, "\(scheme): the forms of an asset")
        try await page.run("document.getElementById('queue').open = true")
        try await page.click("Export", of: "ts")
        try await page.wait("\(BrowserPage.row("ts")).querySelector('[name=ending]')")
        try await expectNoViolation(page, "\(scheme): the downloads together, and an export")
        try await page.click("Details", of: "ts")
        try await page.wait(
            "\(BrowserPage.row("ts")).querySelector('.pairs') && \(BrowserPage.row("cmaf")).querySelector('.chooser')"
        )
        try await expectNoViolation(page, "\(scheme): details and tracks")
    }

    /// Expects no violation in an error, in the player, and in a deletion that waits. Leaves the page as the rows need it.
    private func expectNoViolationInPlayer(of page: BrowserPage, _ scheme: String, _ scene: Scene) async throws {
        try await page.run(
            "document.getElementById('add-url').value = '\(scene.origin.url("/none.m3u8"))'; document.getElementById('add-form').requestSubmit()"
        )
        try await page.wait("document.querySelector('#offer .trouble')")
        try await page.click("Play", of: "ts")
        try await page.wait("document.querySelector('dialog[open]')")
        try await expectNoViolation(page, "\(scheme): the player, an error")
        try await page.run("document.querySelector('dialog [aria-label^=Close]').click()")
        try await page.click("Delete", of: "ts")
        try await page.wait(for: "Undo", in: "ts")
        try await expectNoViolation(page, "\(scheme): a deletion")
        try await page.click("Undo", of: "ts")
        try await page.click("Details", of: "ts")
    }

    /// Expects no violation in what a browser without a link sees.
    private func expectNoViolationAtTheDoor(_ axe: String, _ scene: Scene) async throws {
        let door = try await PageBrowser.shared.page()
        try await door.open("http://127.0.0.1:\(await scene.weir.port)/")
        try await door.run(axe)
        try await expectNoViolation(door, "the door")
        try await door.close()
    }

    @Test("axe-core finds no violation on a phone's page, with its choice of tracks and after its access has ended")
    func passesAxeCoreOnPhone() async throws {
        let axe = try axe()
        try await Scene.with(options: ["--lan", "127.0.0.2"]) { scene in
            try await scene.get("ts", ["-q", "worst"])
            let link = try await scene.weir.run(["page", "--phone", "one"]).output.split(separator: "\n").first
            let page = try await PageBrowser.shared.page()
            try await page.open(try #require(link.map(String.init)))
            try await page.wait("!document.getElementById('tools').hidden")
            try await page.run(axe)
            try await page.click("Add tracks", of: "ts")
            try await page.wait("\(BrowserPage.row("ts")).querySelector('.chooser')")
            try await expectNoViolation(page, "the list and the tracks")
            #expect(try await scene.weir.run(["page", "--revoke", "one"]).exit == .code(0))
            try await page.wait("!document.getElementById('trouble').hidden")
            try await expectNoViolation(page, "the end of its access")
            try await page.close()
        }
    }

    @Test("every control is reached by the Tab key, in order, with visible focus")
    func supportsKeyboard() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            try await scene.withPage { page in
                try await page.wait("\(BrowserPage.row("ts")) && !document.getElementById('network').hidden")
                try await page.run("\(BrowserPage.row("ts")).querySelector('.more').click()")
                var reached: [String] = []
                for _ in 0..<20 {
                    for kind in ["keyDown", "keyUp"] {
                        try await page.call(
                            "Input.dispatchKeyEvent",
                            ["type": .text(kind), "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9])
                    }
                    let name: String = try await page.evaluate(
                        "(e => e === document.body ? '' : (e.getAttribute('aria-label') || e.textContent || e.placeholder).trim() + '|' + (getComputedStyle(e).outlineStyle !== 'none'))(document.activeElement)"
                    )
                    if name == "|true" || name.isEmpty || name == reached.first {
                        break
                    }
                    reached.append(name)
                }
                #expect(
                    reached
                        == [
                            "Skip to the assets", "Use the network", "https://…/master.m3u8",
                            "Show tracks", "Downloads", "Channel lists",
                            "Find by title", "Show", "Sort by", "Posters", "Play ts", "Copy mpv command ts",
                            "Add tracks ts",
                            "Delete ts", "Export ts", "Manage ts", "Details ts", "Less ts",
                        ].map { $0 + "|true" })
            }
        }
    }

    @Test("without scripts it names the commands, and has no control that does nothing")
    func namesTheCommandsWithoutScripts() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            let page = try await PageBrowser.shared.page()
            try await page.call("Emulation.setScriptExecutionDisabled", ["value": true])
            try await page.call("Page.navigate", ["url": .text(try await scene.pageLink())])
            try await page.wait("document.querySelector('noscript p')?.checkVisibility()")
            let text: String = try await page.evaluate("document.querySelector('main').innerText")
            for words in ["weir list", "weir play", "weir get"] {
                #expect(text.contains(words), "\(words): \(text)")
            }
            #expect(
                try await page.evaluate(
                    "[...document.querySelectorAll('button, input, select')].filter(e => e.checkVisibility()).length")
                    == 0)
            try await page.close()
        }
    }

    @Test("a window that becomes wider or narrower keeps what is open, with what was typed")
    func keepsOpenForms() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            try await scene.withPage { page in
                try await page.click("Export", of: "ts")
                let name = "\(BrowserPage.row("ts")).querySelector('[name=name]')"
                try await page.run("\(name).value = 'typed'; document.activeElement.blur()")
                for width in [2560, 1100, 1900] {
                    try await page.call(
                        "Emulation.setDeviceMetricsOverride",
                        ["width": .number(width), "height": 800, "deviceScaleFactor": 1, "mobile": false])
                    try await page.wait("innerWidth === \(width)")
                    try await page.run(
                        "await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
                    #expect(try await page.evaluate("\(name)?.value ?? ''") == "typed")
                }
                #expect(try await page.problems() == [])
            }
        }
    }

    @Test("nothing is wider than the window", arguments: [320, 768, 1280, 2560])
    func fitsTheWindow(width: Int) async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst", "--title", String(repeating: "Unbreakable", count: 20)])
            try await scene.get("cmaf", ["-q", "worst", "--title", "مرحبا بالعالم: فيلم طويل جدا عن البحر والسماء"])
            _ = try await FrameHashes.of(await scene.weir.url("/ts.m3u8"))
            try await scene.withPage { page in
                try await page.call(
                    "Emulation.setDeviceMetricsOverride",
                    ["width": .number(width), "height": 700, "deviceScaleFactor": 1, "mobile": false])
                let wide = "document.documentElement.scrollWidth"
                #expect(try await page.evaluate(wide) <= width, "the list")
                try await page.click("Details", of: "ts")
                try await page.wait("\(BrowserPage.row("ts")).querySelector('.session-picture')?.naturalWidth > 200")
                #expect(try await page.evaluate(wide) <= width, "the details")
                try await page.click("Manage", of: "cmaf")
                try await page.wait("\(BrowserPage.row("cmaf")).querySelector('.manager')")
                #expect(try await page.evaluate(wide) <= width, "the forms")
                // A row's words have room: no column is one letter wide.
                #expect(
                    try await page.evaluate(
                        "[...document.querySelectorAll('.row h3, .row .facts, .field input')].every(e => e.clientWidth === 0 || e.clientWidth >= 80)"
                    ))
            }
        }
    }
}
