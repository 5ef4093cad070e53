import Foundation
import TestSupport
import Testing

/// A phone with a link of its own, with 127.0.0.2 for an address of the network.
@Suite("Phones of the network") struct PhoneTests {
    private func link(_ scene: Scene, _ name: String) async throws -> String {
        let result = try await scene.weir.run(["page", "--phone", name], environment: ["PATH": "/usr/bin:/bin"])
        #expect(result.exit == .code(0), "\(result)")
        return try #require(result.output.split(separator: "\n").first.map(String.init))
    }

    /// The link of a daemon that has another port since.
    private func moved(_ link: String, _ scene: Scene) async -> String {
        let parts = link.components(separatedBy: "/t/")
        return "http://127.0.0.2:\(await scene.weir.port)/t/\(parts[1])"
    }

    private func send(_ method: String, _ url: String, _ body: String? = nil) async throws -> HTTPAnswer {
        try await HTTPProbe.fetch(
            url, method: method, fields: ["Content-Type": "application/json"], body: body.map { Data($0.utf8) })
    }

    @Test("a phone looks, plays and downloads with its own token, and nothing else")
    func hasItsRights() async throws {
        try await Scene.with(options: ["--lan", "127.0.0.2"]) { scene in
            try await scene.get("ts", ["-q", "worst", "--name", "film", "--title", "The Film"])
            let link = try await link(scene, "kitchen")
            let base = String(link.dropLast())
            let token = try #require(base.split(separator: "/").last.map(String.init))
            #expect(link == "http://127.0.0.2:\(await scene.weir.port)/t/\(token)/")

            try await expectPageAndList(at: base, token: token, scene)
            try await expectRefusedCalls(at: base)
            try await expectTokenInMedia(at: base, token: token)
            try await expectDownloadsOfKnownAssets(at: base, scene)
            try await expectNothingElsewhere(at: base, token: token, scene)
            try await expectTokenIsKeptNowhere(token, scene)
        }
    }

    /// Expects the page with its scripts, and a list that names neither folders nor the URLs of origins.
    private func expectPageAndList(at base: String, token: String, _ scene: Scene) async throws {
        let page = try await HTTPProbe.fetch(base + "/")
        #expect(page.status == 200)
        #expect(page.text.contains("src=\"/t/\(token)/page/main.js\""))
        #expect(page["content-security-policy"]?.contains("script-src 'self'") == true)
        #expect(try await HTTPProbe.fetch(base + "/page/main.js").status == 200)

        let list = try await HTTPProbe.fetch(base + "/api/v1/assets")
        #expect(list.status == 200 && list.text.contains("The Film"))
        #expect(!list.text.contains(scene.weir.store) && !list.text.contains("/ts/master.m3u8"), "\(list.text)")
    }

    /// Expects that a phone changes no asset, and sees neither the store, the log, nor who else has access.
    private func expectRefusedCalls(at base: String) async throws {
        let calls = [
            ("DELETE", "/assets/film"), ("PATCH", "/assets/film"), ("GET", "/store"), ("GET", "/lan"),
            ("GET", "/phones"), ("POST", "/phones"), ("GET", "/page"), ("PUT", "/mode"), ("GET", "/log"),
            ("POST", "/assets/film/export"),
        ]
        for (method, path) in calls {
            let body = method == "GET" ? nil : "{}"
            let answer = try await send(method, base + "/api/v1" + path, body)
            #expect(answer.status == 403 && answer.text.contains("not-for-phones"), "\(method) \(path): \(answer.text)")
        }
    }

    /// Expects the phone's token in each URL of a playlist.
    private func expectTokenInMedia(at base: String, token: String) async throws {
        let lines = try await HTTPProbe.fetch(base + "/film.m3u8").text.split(separator: "\n")
        let references = lines.filter { !$0.hasPrefix("#") }
        #expect(!references.isEmpty)
        #expect(references.allSatisfy { $0.hasPrefix("/t/\(token)/a/") })
    }

    /// Expects that a URL of the phone's leads to no private address, and that a known asset may be downloaded.
    private func expectDownloadsOfKnownAssets(at base: String, _ scene: Scene) async throws {
        let route = base + "/api/v1/downloads"
        let other = try await send("POST", route, "{\"source\":\"\(scene.origin.master("cmaf"))\"}")
        #expect(other.status == 403 && other.text.contains("refused-url"), "\(other.text)")
        let more = try await send("POST", route, #"{"source":"film","quality":"best"}"#)
        #expect(more.status == 202, "\(more.text)")
    }

    /// Expects that the token opens nothing at another address, in a header field or in another form.
    private func expectNothingElsewhere(at base: String, token: String, _ scene: Scene) async throws {
        let bare = base.replacing("/t/\(token)", with: "")
        #expect(try await HTTPProbe.fetch(scene.weir.url("/t/\(token)/film.m3u8")).status == 404)
        for url in [await scene.weir.url("/api/v1/assets"), bare + "/api/v1/assets"] {
            let answer = try await HTTPProbe.fetch(url, fields: ["Authorization": "Bearer \(token)"])
            #expect([401, 404].contains(answer.status), "\(url)")
        }

        let otherFirst = token.hasPrefix("A") ? "B" : "A"
        let otherToken = otherFirst + token.dropFirst()
        let paths = [
            "/t/\(token)", "/t/\(token)x/", "/t/\(otherToken)/film.m3u8", "/t/\(token)/metrics",
            "/t/\(token)/in/x/", "/page/main.js",
        ]
        for path in paths {
            #expect(try await HTTPProbe.fetch(bare + path).status == 404, "\(path)")
        }
    }

    /// Expects the token in no file and in no line of the log, once the daemon has written all that it writes.
    private func expectTokenIsKeptNowhere(_ token: String, _ scene: Scene) async throws {
        #expect(await !scene.weir.log.contains(token))
        let state = scene.weir.state
        try await scene.weir.terminate()
        for file in FileManager.default.enumerator(atPath: state)?.allObjects as? [String] ?? [] {
            let text = FileManager.default.contents(atPath: state + "/" + file) ?? Data()
            #expect(text.range(of: Data(token.utf8)) == nil, "\(file)")
        }
    }

    @Test(
        "a link survives restarts, --phones lists it, and --revoke ends it with its stream, with and without a daemon")
    func isRevoked() async throws {
        try await Scene.with(options: ["--lan", "127.0.0.2"]) { scene in
            let one = try await link(scene, "one")
            let two = try await link(scene, "two")
            let three = try await link(scene, "my three")
            try await scene.weir.restart()
            for link in [one, two, three] {
                #expect(try await status(of: link, scene) == 200)
            }

            try await expectThreePhonesListed(scene)
            try await expectRevokedWithItsStream(one, scene)
            #expect(try await status(of: two, scene) == 200)
            try await expectRevokedWithoutDaemon(two, scene)
            #expect(try await status(of: three, scene) == 200)
            try await expectAllRevoked(three, scene)
        }
    }

    private func status(of link: String, _ scene: Scene) async throws -> Int {
        try await HTTPProbe.fetch(moved(link, scene)).status
    }

    /// Expects a list with names and the time of the last request, and that no name is given twice.
    private func expectThreePhonesListed(_ scene: Scene) async throws {
        let listed = try await scene.weir.run(["page", "--phones", "--json"]).output.split(separator: "\n")
        #expect(
            listed.count == 3 && listed[0].contains(#""name":"one""#) && listed[0].contains(#""seen":"#), "\(listed)")
        #expect(try await scene.weir.run(["page", "--phones"]).output.contains("my three"))
        let taken = try await scene.weir.run(["page", "--phone", "one"])
        #expect(taken.exit == .code(65) && taken.errors.contains("there is a phone named one"), "\(taken)")
    }

    /// Expects that `--revoke` ends a phone's access and its stream of events, and says the second time that there is no such
    /// phone.
    private func expectRevokedWithItsStream(_ link: String, _ scene: Scene) async throws {
        let port = await scene.weir.port
        let stream = try RawConnection(port: port, host: "127.0.0.2")
        let path = try #require(link.components(separatedBy: "/t/").last)
        try await stream.send("GET /t/\(path)api/v1/events HTTP/1.1\r\nHost: 127.0.0.2:\(port)\r\n\r\n")
        #expect(String(decoding: try await stream.receiveHead().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))

        let ended = try await scene.weir.run(["page", "--revoke", "one"])
        #expect(ended.output == "one has no access any more\n", "\(ended)")
        var text = ""
        while !text.hasSuffix("\r\n0\r\n\r\n") {
            let (bytes, end) = try await stream.receive(count: 1)
            text += String(decoding: bytes, as: UTF8.self)
            guard end == .satisfied else { throw TimedOut("the end of the stream, but \(end) after \(text)") }
        }
        #expect(text.contains("event: snapshot"))
        #expect(try await status(of: link, scene) == 404)

        let again = try await scene.weir.run(["page", "--revoke", "one"])
        #expect(again.exit == .code(66) && again.errors.contains("weir page --phones"), "\(again)")
    }

    /// Expects that `--revoke` needs no daemon, and that the next daemon knows.
    private func expectRevokedWithoutDaemon(_ link: String, _ scene: Scene) async throws {
        try await scene.weir.terminate()
        #expect(try await scene.weir.run(["page", "--revoke", "two"]).exit == .code(0))
        #expect(try await scene.weir.run(["page", "--revoke", "two"]).exit == .code(66))
        try await scene.weir.start()
        #expect(try await status(of: link, scene) == 404)
    }

    /// Expects that `--revoke --all` ends the page's own link and those of all phones.
    private func expectAllRevoked(_ link: String, _ scene: Scene) async throws {
        let page = try await scene.pageLink()
        let all = try await scene.weir.run(["page", "--revoke", "--all"])
        #expect(
            all.output
                == "the link to the page has ended; a new one: weir page\nno phone has access any more: 1 phone had\n",
            "\(all)")
        #expect(try await status(of: link, scene) == 404)
        #expect(try await HTTPProbe.fetch(page).status == 401)
    }

    @Test("the page on a phone plays and downloads, hides what a phone may not do, and explains the end of its access")
    func usesThePage() async throws {
        try await Scene.with(options: ["--lan", "127.0.0.2"]) { scene in
            try await scene.get("ts", ["-q", "worst", "--title", "The Film"])
            try await scene.origin.add(OriginRule("/cmaf/video-270p/*.m4s") { $0.hold = true })
            try await scene.add(scene.origin.master("cmaf"), ["-q", "270p"])
            let page = try await PageBrowser.shared.page()
            try await page.call(
                "Emulation.setDeviceMetricsOverride",
                ["width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": true])
            try await page.open(try await link(scene, "pocket"))
            try await page.wait("!document.getElementById('tools').hidden && \(BrowserPage.row("ts"))")
            try await page.click("More", of: "ts")
            let words: String = try await page.evaluate(
                "[...document.querySelectorAll('button')].filter(b => b.checkVisibility()).map(b => b.textContent.trim()).join()"
            )
            for word in ["Delete", "Manage", "Export", "Details", "Copy mpv", "Set limit", "Online"] {
                #expect(!words.contains(word), "\(words)")
            }
            #expect(words.contains("Play") && words.contains("Add tracks"), "\(words)")
            #expect(try await page.evaluate("document.getElementById('storage').hidden"))
            try await page.run("document.getElementById('queue').open = true")
            #expect(try await page.evaluate("!document.querySelector('#queue form, #lists form')"))
            try await page.click("Play", of: "ts")
            try await page.wait("document.querySelector('dialog video').videoWidth > 0")
            try await page.run("document.querySelector('dialog [aria-label^=Close]').click()")
            try await page.click("Pause", of: "cmaf")
            try await page.wait(for: "Paused", in: "cmaf")
            try await page.click("Resume", of: "cmaf")
            try await page.wait(for: "Downloading", in: "cmaf")
            try await page.click("Cancel", of: "cmaf")
            try await page.wait(for: "Cancelled", in: "cmaf")
            try await page.run(
                "document.getElementById('add-url').value = '\(scene.origin.master("audio"))'; document.getElementById('add-form').requestSubmit()"
            )
            try await page.wait("document.querySelector('#offer .trouble')")
            #expect(try await page.problems().filter { !$0.contains("403") } == [])
            #expect(try await scene.weir.run(["page", "--revoke", "pocket"]).exit == .code(0))
            try await page.wait("document.getElementById('trouble').innerText.includes('weir page --phone')")
            try await page.close()
        }
    }

    @Test("without --lan there is no link for a phone")
    func needsNetwork() async throws {
        try await Scene.with { scene in
            let refused = try await scene.weir.run(["page", "--phone", "one"])
            #expect(refused.exit == .code(69) && refused.errors.contains("by weir config edit"), "\(refused)")
            let none = try await scene.weir.run(["page", "--phones"])
            #expect(none.output == "no phone has access; a link for one: weir page --phone NAME\n", "\(none)")
            for words in [
                ["--phone", "a\nb"], ["--all"], ["--phones", "--revoke"], ["kitchen"], ["--open", "--json"],
            ] {
                #expect(try await scene.weir.run(["page"] + words).exit == .code(64), "\(words)")
            }
        }
    }
}
