import Foundation
import TestSupport
import Testing

/// Channel lists and planned recordings on the page.
@Suite("The page's channels") struct PageChannelsTests {
    private static let notice = "document.querySelector('#lists > form [role=status]').textContent"

    private func give(_ names: [String], on scene: Scene) async throws {
        let entries = names.map { "#EXTINF:-1 group-title=\"News\",\($0)\n/_live/\($0.lowercased())/media.m3u8\n" }
        let text = "#EXTM3U\n" + entries.joined()
        try await scene.origin.replaceRules(with: OriginRule("/tv.m3u") { ($0.status, $0.body) = (200, text) })
    }

    /// Fills in the form for a channel list, and returns the sentence that it shows.
    private func addList(_ url: String, on page: BrowserPage) async throws -> String {
        try await page.run(
            """
            document.getElementById('lists').open = true;
            const f = document.querySelector('#lists > form'); f.elements.url.value = '\(url)'; f.requestSubmit()
            """)
        try await page.wait("\(Self.notice) !== ''")
        return try await page.evaluate(Self.notice)
    }

    private func find(_ text: String, on page: BrowserPage) async throws {
        try await page.run(
            "const e = document.querySelector('#lists [type=search]'); e.value = '\(text)'; e.dispatchEvent(new Event('input'))"
        )
    }

    @Test("lists are added, read again and removed, and their channels are found")
    func lists() async throws {
        try await Scene.with { scene in
            try await give(["One", "Two"], on: scene)
            try await scene.withPage { page in
                let missing = try await addList(scene.origin.url("/missing.m3u"), on: page)
                #expect(missing.contains("404"), "\(missing)")
                try await page.run("document.querySelector('#lists > form [role=status]').textContent = ''")
                #expect(try await addList(scene.origin.url("/tv.m3u"), on: page) == "tv is added: 2 channels.")
                try await page.wait(for: "2 channels · read ", in: "tv")
                try await give(["One", "Two", "Three"], on: scene)
                try await page.click("Read again", of: "tv")
                try await page.wait(for: "3 channels", in: "tv")
                try await find("news", on: page)
                let count = "document.querySelector('#lists .count').textContent"
                try await page.wait("\(count) === '3 channels'")
                try await find("thr", on: page)
                try await page.wait("\(count) === '1 channel'")
                try await scene.origin.replaceRules(with: OriginRule("/tv.m3u") { $0.status = 500 })
                try await page.click("Read again", of: "tv")
                try await page.wait(for: "Not read since: ", in: "tv")
                try await page.click("Remove", of: "tv")
                try await page.click("Remove the list", of: "tv")
                try await page.wait("!\(BrowserPage.row("tv"))")
                #expect(try await page.problems().filter { !$0.contains("50") } == [])
            }
            #expect(try await scene.weir.run(["list", "--channels"]).output == "")
        }
    }

    /// Sets the fields of the form for times, and sends it.
    private func plan(_ values: [String: String], on page: BrowserPage) async throws {
        let values = String(decoding: try JSONEncoder().encode(values), as: UTF8.self)
        try await page.wait("document.querySelector('.planner form')")
        try await page.run(
            "const f = document.querySelector('.planner form'); for (const [k, v] of Object.entries(\(values))) f.elements[k].value = v; f.requestSubmit()"
        )
    }

    @Test("recordings of a channel are planned, changed and cancelled")
    func plans() async throws {
        try await Scene.with { scene in
            try await give(["One"], on: scene)
            #expect(try await scene.weir.run(["add", scene.origin.url("/tv.m3u"), "--name", "tv"]).exit == .code(0))
            try await scene.withPage { page in
                try await page.run("document.getElementById('lists').open = true")
                try await find("one", on: page)
                try await page.wait("document.querySelector('#lists [aria-label=\"Record later One\"]')")
                try await page.run("document.querySelector('#lists [aria-label=\"Record later One\"]').click()")
                let sentence = "document.querySelector('.planner [role=status]').textContent"
                try await plan(["clock": "20:15", "minutes": "45", "until": "21:00"], on: page)
                try await page.wait("\(sentence).startsWith('Give its length or its end')")
                try await plan(["until": "", "every": "mon,tue,wed,thu,fri", "early": "2", "keep": "5"], on: page)
                try await page.wait("\(sentence).startsWith('one-2015 is planned: it begins ')")
                try await page.wait(for: "one · Monday to Friday at 20:15 · for 45 minutes · next ", in: "one-2015")
                try await page.run("document.querySelector('#lists .planner').remove()")

                try await page.click("Change", of: "one-2015")
                try await plan(["minutes": "", "until": "21:30", "every": "sun"], on: page)
                try await page.wait(for: "every Sunday at 20:15 · until 21:30 · next ", in: "one-2015")
                let planned = try await scene.weir.run(["record"]).output
                #expect(planned.contains("one-2015") && planned.contains("sun"), "\(planned)")
                try await page.click("Cancel", of: "one-2015")
                try await page.click("Cancel it", of: "one-2015")
                try await page.wait("document.getElementById('plans').hidden")
                #expect(try await page.problems() == [])
            }
            #expect(try await scene.weir.run(["record"]).output.contains("one-2015") == false)
        }
    }

    @Test("a URL of a channel list is offered as one, and a channel is recorded at once from its row")
    func offers() async throws {
        try await Scene.with { scene in
            try await give(["One"], on: scene)
            try await scene.withPage { page in
                try await page.run(
                    "document.getElementById('add-url').value = '\(scene.origin.url("/tv.m3u"))'; document.getElementById('add-form').requestSubmit()"
                )
                try await page.wait("document.querySelector('#offer h3')?.textContent === 'This is a channel list'")
                try await page.run("document.querySelector('#offer .primary').click()")
                try await page.wait(for: "1 channel · ", in: "tv")
                try await find("one", on: page)
                try await page.wait("document.querySelector('#lists [aria-label=\"Record One\"]')")
                try await page.run("document.querySelector('#lists [aria-label=\"Record One\"]').click()")
                try await page.wait("document.querySelector('#assets .badge-recording')")
                #expect(try await page.problems().filter { !$0.contains("422") } == [])
            }
        }
    }
}
