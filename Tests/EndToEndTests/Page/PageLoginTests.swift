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
            #expect(page.status == 200 && page.text.contains("<bdi>Hidden Film</bdi>"))
            expectGuarded(page)
            for path in ["/", "/in/\(key)/", "/page/main.js"] {
                #expect(try await HTTPProbe.fetch(scene.weir.url(path), method: "POST", body: Data()).status == 405)
            }
            // The key is valid for the API until the process ends; the token is not a key.
            let assets = await scene.weir.url("/api/v1/assets")
            #expect(try await HTTPProbe.fetch(assets, fields: ["Authorization": "Bearer \(key)"]).status == 200)
            let token = try String(contentsOfFile: scene.weir.state + "/token", encoding: .utf8)
            #expect(!link.contains(token.trimmingCharacters(in: .newlines)))
            try await scene.weir.restart()
            let stale = await scene.weir.url("/in/\(key)/")
            #expect(try await HTTPProbe.fetch(stale).status == 401)
            let again = await scene.weir.url("/api/v1/assets")
            #expect(try await HTTPProbe.fetch(again, fields: ["Authorization": "Bearer \(key)"]).status == 401)
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
