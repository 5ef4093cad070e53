import Foundation
import TestSupport
import Testing

@Suite("Access to the page") struct PageLoginTests {
    @Test("without a key the page explains how to get access, and shows nothing else")
    func explainsAccess() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst", "--title", "Hidden Film"])
            let link = try await scene.pageLink()
            let key = try #require(link.split(separator: "/").last.map(String.init))
            for path in [
                "/", "/in/", "/in/x/", "/in/\(key.dropLast())/", "/in/\(key)x/", "/in/\(key)/x", "/?key=\(key)",
            ] {
                let answer = try await HTTPProbe.fetch(scene.weir.url(path))
                #expect(answer.status == 401, "\(path)")
                #expect(answer["www-authenticate"] == "Bearer")
                #expect(answer.text.contains("weir page") && !answer.text.contains("Hidden Film"), "\(path)")
                expectGuarded(answer)
            }
            let page = try await HTTPProbe.fetch(scene.weir.url("/in/\(key)/"))
            #expect(page.status == 200 && page.text.contains("id=\"assets\""))
            expectGuarded(page)
            for path in ["/", "/in/\(key)/", "/page/main.js"] {
                #expect(try await HTTPProbe.fetch(scene.weir.url(path), method: "POST", body: Data()).status == 405)
            }
            // The key is valid for the API; the token is not a key.
            let assets = await scene.weir.url("/api/v1/assets")
            #expect(try await HTTPProbe.fetch(assets, fields: ["Authorization": "Bearer \(key)"]).status == 200)
            let token = try String(contentsOfFile: scene.weir.state + "/token", encoding: .utf8)
            #expect(!link.contains(token.trimmingCharacters(in: .newlines)))
        }
    }

    /// The statuses of the page and of the API with a link's key.
    private func statuses(_ scene: Scene, key: String) async throws -> [Int] {
        let page = try await HTTPProbe.fetch(scene.weir.url("/in/\(key)/"))
        let api = try await HTTPProbe.fetch(
            scene.weir.url("/api/v1/assets"), fields: ["Authorization": "Bearer \(key)"])
        return [page.status, api.status]
    }

    private func key(_ scene: Scene) async throws -> String {
        try #require(try await scene.pageLink().split(separator: "/").last.map(String.init))
    }

    @Test("a link survives restarts, until weir page --revoke ends it, with and without a daemon")
    func keepsLink() async throws {
        try await Scene.with { scene in
            let first = try await key(scene)
            let file = scene.weir.state + "/page-key"
            #expect(try String(contentsOfFile: file, encoding: .utf8) == first + "\n")
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
            try await scene.weir.restart()
            #expect(try await statuses(scene, key: first) == [200, 200])
            let port = await scene.weir.port
            let stream = try RawConnection(port: port)
            try await stream.send(
                "GET /api/v1/events HTTP/1.1\r\nHost: localhost:\(port)\r\nAuthorization: Bearer \(first)\r\n\r\n")
            #expect(String(decoding: try await stream.receiveHead().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 200 "))
            let revoked = try await scene.weir.run(["page", "--revoke"])
            #expect(revoked.output == "the link to the page has ended; a new one: weir page\n", "\(revoked)")
            // The last chunk ends the stream.
            var text = ""
            while !text.hasSuffix("\r\n0\r\n\r\n") {
                let (bytes, end) = try await stream.receive(count: 1)
                text += String(decoding: bytes, as: UTF8.self)
                guard end == .satisfied else { throw TimedOut("the end of the stream, but \(end) after \(text)") }
            }
            #expect(try await statuses(scene, key: first) == [401, 401])
            let second = try await key(scene)
            #expect(try await statuses(scene, key: second) == [200, 200])
            try await scene.weir.restart()
            #expect(try await statuses(scene, key: first) == [401, 401])
            #expect(try await statuses(scene, key: second) == [200, 200])
            try await scene.weir.terminate()
            #expect(try await scene.weir.run(["page", "--revoke"]).exit == .code(0))
            #expect(!FileManager.default.fileExists(atPath: file))
            try await scene.weir.start()
            #expect(try await statuses(scene, key: second) == [401, 401])
            // A key that others could have read does not count.
            let third = try await key(scene)
            try await scene.weir.terminate()
            chmod(file, 0o640)
            try await scene.weir.start()
            #expect(try await statuses(scene, key: third) == [401, 401])
        }
    }

    @Test("a key that a program sends to a URL of an origin stays here")
    func keepsKeyFromOrigins() async throws {
        try await Scene.with { scene in
            let key = try await key(scene)
            for (value, isPassedOn) in [("Bearer \(key)", false), ("Bearer of-the-origin", true)] {
                try await scene.origin.clearRequests()
                let fixture = isPassedOn ? "cmaf" : "ts"
                let answer = try await HTTPProbe.fetch(await scene.master(fixture), fields: ["Authorization": value])
                #expect(answer.status == 200)
                let requests = try await scene.origin.requests()
                #expect(
                    !requests.isEmpty
                        && requests.allSatisfy { $0.headers["authorization"] == (isPassedOn ? value : nil) })
            }
        }
    }

    @Test("two tabs go on after a restart, and after --revoke a new link in one of them opens both")
    func reconnects() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            let own = "http://localhost:\(await scene.weir.port)/"
            let listen = ["--listen", "127.0.0.1:\(await scene.weir.port)"]
            let isIn =
                "!(document.getElementById('tools')?.hidden ?? true) && document.getElementById('trouble').hidden"
            let tabs = [try await PageBrowser.shared.page(), try await PageBrowser.shared.page()]
            try await tabs[0].open(try await scene.pageLink())
            try await tabs[0].wait(isIn)
            try await tabs[1].open(own)
            try await tabs[1].wait(isIn)
            try await scene.weir.kill()
            for tab in tabs {
                try await tab.wait("document.getElementById('trouble').innerText.includes('does not answer')")
            }
            try await scene.weir.start(options: listen)
            for tab in tabs {
                try await tab.wait(isIn)
            }
            // The stream of events works again.
            try await scene.get("cmaf", ["-q", "worst"])
            for tab in tabs {
                try await tab.wait("document.querySelectorAll('.row').length === 2")
            }
            #expect(try await scene.weir.run(["page", "--revoke"]).exit == .code(0))
            for tab in tabs {
                try await tab.wait("document.getElementById('trouble').innerText.includes('weir page')")
            }
            // The restarted daemon has two ports, and prints the link of the other one.
            try await tabs[1].open(own + "in/\(try await key(scene))/")
            for tab in tabs {
                try await tab.wait(isIn)
            }
            #expect(try await tabs[0].evaluate("location.href") == own)
            for tab in tabs {
                try await tab.close()
            }
        }
    }

    @Test("weir page --open grants access by a file, and a link with another key does not revoke it")
    func opensPageByFile() async throws {
        try await Scene.with { scene in
            let folder = try TemporaryFolder()
            let opener = try folder.write(Data("#!/bin/sh\necho \"$1\" >\"$0.said\"\n".utf8), to: "xdg-open")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: opener)
            let open = try await scene.weir.run(
                ["page", "--open"], environment: ["PATH": folder.path + ":/usr/bin:/bin", "DISPLAY": ":0"])
            #expect(open.exit == .code(0), "\(open.errors)")
            let file = try String(contentsOfFile: opener + ".said", encoding: .utf8)
                .trimmingCharacters(in: .newlines)
            let page = try await PageBrowser.shared.page()
            let isIn = "!(document.getElementById('tools')?.hidden ?? true)"
            let own = "http://localhost:\(await scene.weir.port)/"
            try await page.open("file://" + file)
            try await page.wait(isIn)
            #expect(try await page.evaluate("location.href") == own)
            for link in ["#key=wrong", "#key=%22", "#else"] {
                try await page.open("about:blank")
                try await page.open(own + link)
                try await page.wait("\(isIn) && location.href === '\(own)'")
            }
            #expect(try await page.problems() == [])
            try await page.close()
        }
    }

    private func expectGuarded(_ answer: HTTPAnswer) {
        let policy = answer["content-security-policy"] ?? ""
        #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
        #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
        #expect(answer["x-content-type-options"] == "nosniff" && answer["referrer-policy"] == "no-referrer")
        #expect(answer["cache-control"] == "no-store" && answer["set-cookie"] == nil)
    }

    @Test("the page's files are revalidated each time, and sent once")
    func revalidatesFiles() async throws {
        try await Scene.with { scene in
            let types = [
                "main.js": "text/javascript; charset=utf-8", "page.css": "text/css; charset=utf-8",
                "icon.svg": "image/svg+xml",
            ]
            for (file, type) in types {
                let url = await scene.weir.url("/page/\(file)")
                let answer = try await HTTPProbe.fetch(url)
                #expect(answer.status == 200 && answer["content-type"] == type && answer["cache-control"] == "no-cache")
                #expect(
                    answer.body == FileManager.default.contents(atPath: Repository.path("Sources/CPage/files/\(file)")))
                let tag = try #require(answer["etag"])
                #expect(try await HTTPProbe.fetch(url, fields: ["If-None-Match": tag]).status == 304)
            }
            for path in ["/page/", "/page/page.html", "/page/../page/main.js", "/page/none.js"] {
                #expect(try await HTTPProbe.fetch(scene.weir.url(path)).status == 404, "\(path)")
            }
        }
    }
}
