import Foundation
import TestSupport
import Testing

/// Sorting, sums, and the changes of an asset on the page.
@Suite("The page's list and forms") struct PageManageTests {
    private static let names = "[...document.querySelectorAll('.row')].map(r => r.dataset.name).join()"

    /// Sets a control of the page and reports it as a user's change.
    private func set(_ selector: String, to value: String, on page: BrowserPage) async throws {
        let literal = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
        try await page.run(
            "const e = document.querySelector('\(selector)'); e.value = \(literal); for (const n of ['input', 'change']) e.dispatchEvent(new Event(n))"
        )
    }

    @Test("the list is sorted as chosen, also after a reload, and has its sums; a complete asset is one line")
    func sorts() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst", "--title", "Zebra", "--name", "a"])
            try await scene.get("cmaf", ["-q", "worst", "--title", "Apple 10", "--name", "b"])
            try await scene.get("audio", ["--title", "Apple 9", "--name", "c"])
            _ = try await scene.weir.run(["policy", "b", "--expires", "30d"])
            try await scene.withPage(preparing: "localStorage.setItem('weir-view', 'lines')") { page in
                try await page.wait("\(Self.names) === 'c,b,a'")
                try await set("#sort", to: "expiry", on: page)
                try await page.wait("\(Self.names) === 'b,c,a'")
                try await page.open(try await scene.pageLink())
                try await page.wait("\(Self.names) === 'b,c,a' && document.getElementById('sort').value === 'expiry'")
                try await set("#sort", to: "title", on: page)
                let sums: String = try await page.evaluate("document.getElementById('totals').textContent")
                #expect(sums.hasPrefix("· 3 saved · ") && (sums.contains("KB") || sums.contains("MB")), "\(sums)")
                try await set("#find", to: "zeb", on: page)
                try await page.wait(
                    "\(Self.names) === 'a' && document.getElementById('totals').textContent.startsWith('· 1 saved')")

                let height = "\(BrowserPage.row("a")).getBoundingClientRect().height"
                #expect(
                    try await page.evaluate(
                        "\(height) < 60 && !\(BrowserPage.button("Delete", of: "a"))"))
                try await page.click("More", of: "a")
                #expect(
                    try await page.evaluate(
                        "\(height) > 90 && \(BrowserPage.button("Delete", of: "a")).checkVisibility()"))
                #expect(
                    try await page.evaluate(
                        "\(BrowserPage.row("a")).querySelector('.more').getAttribute('aria-expanded')") == "true")
                try await page.click("Less", of: "a")
                #expect(try await page.evaluate("\(height) < 60"))
                #expect(try await page.problems() == [])
            }
        }
    }

    /// Fills in a form of an asset and sends it; returns the sentence that it shows.
    private func send(_ legend: String, _ values: [String: String], of name: String, on page: BrowserPage) async throws
        -> String
    {
        let form =
            "[...\(BrowserPage.row(name)).querySelectorAll('form')].find(f => f.querySelector('legend').textContent === '\(legend)')"
        let values = String(decoding: try JSONEncoder().encode(values), as: UTF8.self)
        try await page.run(
            "const f = \(form); f.querySelector('[role=status]').textContent = ''; for (const [k, v] of Object.entries(\(values))) f.elements[k].value = v; f.requestSubmit()"
        )
        try await page.wait(
            "[...document.querySelectorAll('form')].find(f => f.querySelector('legend')?.textContent === '\(legend)').querySelector('[role=status]').textContent !== ''"
        )
        return try await page.evaluate(
            "[...document.querySelectorAll('form')].find(f => f.querySelector('legend')?.textContent === '\(legend)').querySelector('[role=status]').textContent"
        )
    }

    @Test("the forms of an asset rename it, keep it for a time and set its header fields, as commands do")
    func manages() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            try await scene.withPage { page in
                try await page.click("Manage", of: "ts")
                let refused = try await send("Names", ["name": "a/b"], of: "ts", on: page)
                #expect(refused.contains("a/b"), "\(refused)")
                let named = try await send(
                    "Names", ["name": "film", "title": "مرحبا", "note": "A note"], of: "ts", on: page)
                #expect(named == "Saved: players find it at /film.m3u8.")
                try await page.wait("\(BrowserPage.row("film"))?.textContent.includes('مرحبا')")
                // The other forms still mean the same asset.
                #expect(
                    try await send("Keeping", ["expires": "2099-05-01", "priority": "important"], of: "film", on: page)
                        .hasPrefix("Saved"))
                try await page.wait(for: "until ", in: "film")
                let bad = try await send(
                    "Header fields for its origin", ["headers": "Referer: https://site.example/\nno field"], of: "film",
                    on: page)
                #expect(bad.contains("Line 2"))
                let set = try await send(
                    "Header fields for its origin", ["headers": "Referer: https://site.example/\nCookie: sid=secret82"],
                    of: "film", on: page)
                #expect(set.contains("2 header fields") && !set.contains("secret82"))
                #expect(try await page.problems() == [])
            }
            let shown = try await scene.weir.run(["show", "film", "--json"]).output
            #expect(shown.contains(#""note":"A note""#) && shown.contains(#""priority":"important""#))
            let count = try await scene.origin.requests().count
            _ = try await scene.weir.run(["get", "film", "-q", "180p"])
            let requests = try await scene.origin.requests().dropFirst(count)
            #expect(!requests.isEmpty && requests.allSatisfy { $0.headers["cookie"] == "sid=secret82" })
        }
    }

    @Test("an asset is exported to a file or a folder; nothing is replaced, and the folder is proposed again")
    func exports() async throws {
        let folder = try TemporaryFolder()
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst", "--title", "Film"])
            try await scene.withPage { page in
                try await page.click("Export", of: "ts")
                let files = [("a", ".mkv", "a.mkv"), ("b", "", "b/master.m3u8"), ("c", ".mka", "c.mka")]
                for (name, ending, file) in files {
                    let values = ["folder": folder.path + "/", "name": name, "ending": ending]
                    let exported = try await send("Export Film", values, of: "ts", on: page)
                    #expect(exported.hasPrefix("Written to \(folder.path(name))"), "\(exported)")
                    #expect(FileManager.default.fileExists(atPath: folder.path(file)))
                }
                let again = try await send("Export Film", ["name": "a", "ending": ".mkv"], of: "ts", on: page)
                #expect(again.contains(folder.path("a.mkv")) && !again.hasPrefix("Written"), "\(again)")
                let relative = try await send("Export Film", ["folder": "videos"], of: "ts", on: page)
                #expect(!relative.hasPrefix("Written"), "\(relative)")
                try await page.click("Close", of: "ts")
                try await page.wait("document.activeElement === \(BrowserPage.button("Export", of: "ts"))")
                try await page.click("Export", of: "ts")
                let proposed = "\(BrowserPage.row("ts")).querySelector('[name=folder]').value"
                #expect(try await page.evaluate(proposed) == folder.path)
                #expect(try await page.problems() == [])
            }
        }
    }

    @Test("a picture is set from a file, replaced and removed, and the row shows it")
    func setsPicture() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            try await scene.withPage { page in
                try await page.click("Manage", of: "ts")
                #expect(try await send("Picture", [:], of: "ts", on: page).hasPrefix("Choose a file first"))
                for width in [8, 16] {
                    let set: String = try await page.evaluate(
                        """
                        (async () => {
                            const canvas = Object.assign(document.createElement('canvas'), {width: \(width), height: 8})
                            canvas.getContext('2d').fillRect(0, 0, 4, 4)
                            const files = new DataTransfer()
                            const blob = await new Promise(done => canvas.toBlob(done, 'image/png'))
                            files.items.add(new File([blob], 'a.png', {type: 'image/png'}))
                            const form = document.querySelector('input[type=file]').form
                            form.elements.picture.files = files.files
                            form.requestSubmit()
                            return files.files[0].name
                        })()
                        """)
                    #expect(set == "a.png")
                    try await page.wait(
                        "\(BrowserPage.row("ts")).querySelector('.picture img')?.naturalWidth === \(width)")
                }
                #expect(try await scene.weir.run(["show", "ts", "--json"]).output.contains(#""artwork":"#))
                let remove =
                    "[...\(BrowserPage.row("ts")).querySelectorAll('.manager button')].find(b => b.textContent === 'Remove picture')"
                try await page.run("\(remove).click()")
                // One of the film's own stands in.
                try await page.wait("\(BrowserPage.row("ts")).querySelector('.picture img')?.naturalWidth === 480")
                #expect(try await !scene.weir.run(["show", "ts", "--json"]).output.contains(#""artwork":"#))
                #expect(try await page.problems() == [])
            }
        }
    }

    @Test("a row shows the quality that plays now, in the words of weir status and weir watch")
    func showsQuality() async throws {
        try await Scene.with { scene in
            try await scene.get("ts", ["-q", "worst"])
            try await scene.withPage { page in
                _ = try await FrameHashes.of(await scene.weir.url("/ts.m3u8"))
                try await page.unfold("ts")
                try await page.wait(for: "playing 90p at ", in: "ts")
                let status = try await scene.weir.run(["status"]).output
                #expect(status.contains("ts  90p  at "), "\(status)")
            }
        }
    }

    @Test("a live stream is recorded by a click")
    func records() async throws {
        let origin = try await LiveOrigin(seconds: 40)
        try await Scene.with { scene in
            try await scene.withPage { page in
                try await set("#add-url", to: origin.master("window", for: "page"), on: page)
                try await page.run("document.getElementById('add-form').requestSubmit()")
                let record = "[...document.querySelectorAll('#offer button')].find(b => b.textContent === 'Record')"
                try await page.wait(record)
                try await page.run("\(record).click()")
                // The channel has a row of its own.
                let rows = "[...document.querySelectorAll('.row')]"
                try await page.wait("\(rows).some(row => row.textContent.includes('recorded'))")
                #expect(try await page.problems() == [])
            }
        }
    }
}
