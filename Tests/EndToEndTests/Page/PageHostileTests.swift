import Foundation
import TestSupport
import Testing

@Suite("The page with hostile content") struct PageHostileTests {
    /// Twenty injection attempts, each in five contexts.
    private static let titles: [String] = [
        "<script>hacked()</script>", "<img src=x onerror=hacked()>", "\"><svg onload=hacked()>", "'-hacked()-'",
        "</li></ul><h1>Gone</h1>",
        "<!--weir:mount--><iframe src=javascript:hacked()>", "javascript:hacked()", "${hacked()}",
        "{{constructor.constructor('hacked()')()}}",
        "&lt;script&gt;hacked()&lt;/script&gt;", "<style>body{display:none}</style>",
        "<base href=http://evil.example/>",
        "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
        "<form action=http://evil.example><button>Delete</button></form>",
        "\u{202E}gnp.exe\u{2066}", "a\u{0}b\u{7}c\u{1B}[31m", "<a href=http://evil.example id=assets name=assets>x</a>",
        "]]><x>",
        "\\u003cscript\\u003ehacked()\\u003c/script\\u003e", "<details open ontoggle=hacked()>",
    ].flatMap { text in (1...5).map { "\($0) " + String(repeating: text, count: $0) } }

    private struct Wish: Encodable {
        let source: String
        let name: String
        let title: String
        let note: String
        let audio = "all"
        let paused = true
    }

    /// An asset per title, with hostile track names.
    private func films(in folder: TemporaryFolder) throws {
        for (number, title) in Self.titles.enumerated() {
            let name = title.replacing("\"", with: "").filter { !$0.isNewline }.unicodeScalars.filter { $0.value > 31 }
            let master = """
                #EXTM3U
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="\(String(String.UnicodeScalarView(name)))",LANGUAGE="en",DEFAULT=YES,URI="a\(number).m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=\(100_000 + number),RESOLUTION=320x180,CODECS="<b>x</b>",AUDIO="a"
                v\(number).m3u8

                """
            try Data(master.utf8).write(to: URL(fileURLWithPath: folder.path("\(number).m3u8")))
            for kind in ["v", "a"] {
                let media =
                    "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:\(2 + number % 5).\(number),\n\(kind)\(number).ts\n#EXT-X-ENDLIST\n"
                try Data(media.utf8).write(to: URL(fileURLWithPath: folder.path("\(kind)\(number).m3u8")))
            }
        }
    }

    /// Counts scripts that ran, and violations of the content policy a thousand times.
    private static let spy =
        "window.hacks = 0; window.hacked = () => { hacks += 1 }; addEventListener('securitypolicyviolation', e => { hacks += 1000 })"

    @Test("a hundred hostile titles appear as text, and violate no content policy")
    func showsTitlesAsText() async throws {
        let folder = try TemporaryFolder()
        try films(in: folder)
        try await Scene.with(root: folder.path) { scene in
            try await addFilms(to: scene)
            try await expectTextOfAllRows(scene)
        }
    }

    /// Adds a paused download for each title, with the title as its note as well.
    private func addFilms(to scene: Scene) async throws {
        let token = try String(contentsOfFile: scene.weir.state + "/token", encoding: .utf8).trimmingCharacters(
            in: .newlines)
        let route = await scene.weir.url("/api/v1/downloads")
        for (number, title) in Self.titles.enumerated() {
            let wish = Wish(
                source: scene.origin.url("/\(number).m3u8"), name: "film-\(number)", title: title, note: title)
            let answer = try await HTTPProbe.fetch(
                route, method: "POST",
                fields: ["Authorization": "Bearer \(token)", "Content-Type": "application/json"],
                body: try JSONEncoder().encode(wish))
            #expect(answer.status == 202, "\(title): \(answer.text)")
        }
    }

    /// Expects text in the list and in every view of each asset.
    private func expectTextOfAllRows(_ scene: Scene) async throws {
        try await scene.withPage(preparing: Self.spy) { page in
            try await page.wait("document.getElementById('count').textContent === '100 assets'")
            // A window tall enough for all rows.
            try await page.call(
                "Emulation.setDeviceMetricsOverride",
                ["width": 1280, "height": 40000, "deviceScaleFactor": 1, "mobile": false])
            try await page.wait("document.querySelectorAll('.row').length === 100")
            try await expectText(page, "Array.from(document.querySelectorAll('.row h3'), h => h.textContent)")
            for word in ["Delete", "Details", "Add tracks", "Play"] {
                try await page.run(
                    "for (const row of document.querySelectorAll('#assets > .row')) { row.querySelector('.row-short .more')?.click(); row.querySelector(`[aria-label^='\(word) ']`)?.click(); "
                        + "document.querySelector('dialog [aria-label^=Close]')?.click(); row.querySelector('.undo button')?.click() }"
                )
            }
            try await page.wait("document.querySelectorAll('.row .chooser').length === 100")
            try await page.run(
                "const f = document.getElementById('find'); f.value = '<'; f.dispatchEvent(new Event('input'))")
            #expect(try await page.evaluate("hacks") == 0)
            #expect(try await page.problems() == [])
            try await expectOwnNodesOnly(page)
        }
    }

    /// Expects each title unchanged, except NUL, which documents cannot contain.
    private func expectText(_ page: BrowserPage, _ script: String) async throws {
        let shown: [String] = try await page.evaluate(script)
        let plain = { (text: String) in text.filter { $0 != "\u{0}" && $0 != "\u{FFFD}" } }
        #expect(Set(shown.map(plain)) == Set(Self.titles.map(plain)))
    }

    /// Expects only the page's own elements and URLs.
    private func expectOwnNodesOnly(_ page: BrowserPage) async throws {
        let foreign: [String] = try await page.evaluate(
            """
            [...document.querySelectorAll('script, style, iframe, object, embed, base, form, a, img, [onerror], [onload], [style]')].filter(e => !(
                e.matches('head > script[src="/page/main.js"], form#add-form, .panel > form.manage, form.chooser, .skip, .brand img, .room, .picture'))).map(e => e.outerHTML)
            """)
        #expect(foreign == [])
        let port = try #require(URLComponents(string: try await page.evaluate("location.href", as: String.self))?.port)
        #expect(try await page.requests().allSatisfy { $0.hasPrefix("http://localhost:\(port)/") })
    }
}
