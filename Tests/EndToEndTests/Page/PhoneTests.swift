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
            #expect(base == "http://127.0.0.2:\(await scene.weir.port)/t/\(token)")
            let page = try await HTTPProbe.fetch(link)
            #expect(
                page.status == 200 && page.text.contains("<bdi>The Film</bdi>")
                    && page.text.contains("src=\"/t/\(token)/page/main.js\""))
            #expect(page["content-security-policy"]?.contains("script-src 'self'") == true)
            #expect(try await HTTPProbe.fetch(base + "/page/main.js").status == 200)
            let list = try await HTTPProbe.fetch(base + "/api/v1/assets")
            #expect(list.status == 200 && list.text.contains("The Film"))
            #expect(!list.text.contains(scene.weir.store) && !list.text.contains("/ts/master.m3u8"), "\(list.text)")
            for (method, path) in [
                ("DELETE", "/assets/film"), ("PATCH", "/assets/film"), ("GET", "/store"), ("GET", "/lan"),
                ("GET", "/phones"),
                ("POST", "/phones"), ("GET", "/page"), ("PUT", "/mode"), ("GET", "/log"),
                ("POST", "/assets/film/export"),
            ] {
                let answer = try await send(method, base + "/api/v1" + path, method == "GET" ? nil : "{}")
                #expect(
                    answer.status == 403 && answer.text.contains("not-for-phones"), "\(method) \(path): \(answer.text)")
            }
            // Media with the phone's token in each URL.
            let entry = try await HTTPProbe.fetch(base + "/film.m3u8").text.split(separator: "\n").filter {
                !$0.hasPrefix("#")
            }
            #expect(entry.allSatisfy { $0.hasPrefix("/t/\(token)/a/") } && !entry.isEmpty)
            // A URL of the phone's leads to no private address; a known asset may be downloaded.
            let other = try await send(
                "POST", base + "/api/v1/downloads", "{\"source\":\"\(scene.origin.master("cmaf"))\"}")
            #expect(other.status == 403 && other.text.contains("refused-url"), "\(other.text)")
            let more = try await send("POST", base + "/api/v1/downloads", #"{"source":"film","quality":"best"}"#)
            #expect(more.status == 202, "\(more.text)")
            // The token opens nothing elsewhere.
            let weir = scene.weir
            #expect(try await HTTPProbe.fetch(weir.url("/t/\(token)/film.m3u8")).status == 404)
            for url in [await weir.url("/api/v1/assets"), base.replacing("/t/\(token)", with: "") + "/api/v1/assets"] {
                let answer = try await HTTPProbe.fetch(url, fields: ["Authorization": "Bearer \(token)"])
                #expect([401, 404].contains(answer.status), "\(url)")
            }
            let bare = base.replacing("/t/\(token)", with: "")
            let otherFirst = token.hasPrefix("A") ? "B" : "A"
            let otherToken = otherFirst + token.dropFirst()
            for path in [
                "/t/\(token)", "/t/\(token)x/", "/t/\(otherToken)/film.m3u8", "/t/\(token)/metrics",
                "/t/\(token)/in/x/", "/page/main.js",
            ] {
                #expect(try await HTTPProbe.fetch(bare + path).status == 404, "\(path)")
            }
            try await weir.terminate()
            for file in FileManager.default.enumerator(atPath: weir.state)?.allObjects as? [String] ?? [] {
                let text = FileManager.default.contents(atPath: weir.state + "/" + file) ?? Data()
                #expect(text.range(of: Data(token.utf8)) == nil, "\(file)")
            }
            #expect(await !weir.log.contains(token))
        }
    }

    @Test(
        "a link survives restarts, --phones lists it, and --revoke ends it with its stream, with and without a daemon")
    func isRevoked() async throws {
        try await Scene.with(options: ["--lan", "127.0.0.2"]) { scene in
            let (one, two, three) = (
                try await link(scene, "one"), try await link(scene, "two"), try await link(scene, "my three")
            )
            try await scene.weir.restart()
            let port = await scene.weir.port
            for link in [one, two, three] { #expect(try await HTTPProbe.fetch(await moved(link, scene)).status == 200) }
            let listed = try await scene.weir.run(["page", "--phones", "--json"]).output.split(separator: "\n")
            #expect(
                listed.count == 3 && listed[0].contains(#""name":"one""#) && listed[0].contains(#""seen":"#),
                "\(listed)")
            #expect(try await scene.weir.run(["page", "--phones"]).output.contains("my three"))
            let taken = try await scene.weir.run(["page", "--phone", "one"])
            #expect(taken.exit == .code(65) && taken.errors.contains("there is a phone named one"), "\(taken)")
            let stream = try RawConnection(port: port, host: "127.0.0.2")
            let path = try #require(one.components(separatedBy: "/t/").last)
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
            #expect(try await HTTPProbe.fetch(await moved(one, scene)).status == 404)
            #expect(try await HTTPProbe.fetch(await moved(two, scene)).status == 200)
            let again = try await scene.weir.run(["page", "--revoke", "one"])
            #expect(again.exit == .code(66) && again.errors.contains("weir page --phones"), "\(again)")
            try await scene.weir.terminate()
            #expect(try await scene.weir.run(["page", "--revoke", "two"]).exit == .code(0))
            #expect(try await scene.weir.run(["page", "--revoke", "two"]).exit == .code(66))
            try await scene.weir.start()
            #expect(try await HTTPProbe.fetch(await moved(two, scene)).status == 404)
            #expect(try await HTTPProbe.fetch(await moved(three, scene)).status == 200)
            let page = try await scene.pageLink()
            let all = try await scene.weir.run(["page", "--revoke", "--all"])
            #expect(
                all.output
                    == "the link to the page has ended; a new one: weir page\nno phone has access any more: 1 phone had\n",
                "\(all)")
            #expect(try await HTTPProbe.fetch(await moved(three, scene)).status == 404)
            #expect(try await HTTPProbe.fetch(page).status == 401)
        }
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
            for word in ["Delete", "Manage", "Details", "Copy mpv", "Online"] {
                #expect(!words.contains(word), "\(words)")
            }
            #expect(words.contains("Play") && words.contains("Add tracks"), "\(words)")
            #expect(try await page.evaluate("document.getElementById('storage').hidden"))
            try await page.click("Play", of: "ts")
            try await page.wait("document.querySelector('dialog video').videoWidth > 0")
            try await page.run("document.querySelector('dialog button').click()")
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
            #expect(refused.exit == .code(69) && refused.errors.contains("weir serve --lan ADDRESS"), "\(refused)")
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
