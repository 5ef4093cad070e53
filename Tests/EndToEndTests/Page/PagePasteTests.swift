import Foundation
import TestSupport
import Testing

/// Pastes and drops, with the browser's own clipboard and drags.
@Suite("Pastes and drops on the page", .serialized) struct PagePasteTests {
    private static let offer = "document.querySelector('#offer .chooser')"

    /// Copies a text to the clipboard as a user would, and pastes it on the page or into a field.
    private func paste(_ text: String, on page: BrowserPage, into field: String = "") async throws {
        let literal = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        try await page.run(
            """
            const area = document.createElement('textarea'); area.value = \(literal); document.body.append(area); area.select();
            document.execCommand('copy'); area.remove(); document.getElementById('\(field)')?.focus()
            """)
        try await page.call(
            "Input.dispatchKeyEvent",
            [
                "type": "rawKeyDown", "key": "v", "code": "KeyV", "windowsVirtualKeyCode": 86, "modifiers": 2,
                "commands": .list(["paste"]),
            ])
        try await page.call(
            "Input.dispatchKeyEvent",
            ["type": "keyUp", "key": "v", "code": "KeyV", "windowsVirtualKeyCode": 86, "modifiers": 2])
    }

    private func drop(_ text: String, as type: String, on page: BrowserPage) async throws {
        for step in ["dragEnter", "dragOver", "drop"] {
            try await page.call(
                "Input.dispatchDragEvent",
                [
                    "type": .text(step), "x": 300, "y": 300,
                    "data": .object([
                        "items": .list([.object(["mimeType": .text(type), "data": .text(text)])]),
                        "dragOperationsMask": 1,
                    ]),
                ])
        }
    }

    @Test("show the tracks of a URL, and leave other text and other fields alone")
    func urls() async throws {
        try await Scene.with { scene in
            let url = scene.origin.master("ts")
            try await scene.withPage { page in
                try await paste("no URL at all", on: page)
                try await paste("ts", on: page, into: "find")
                try await page.wait("document.getElementById('find').value === 'ts'")
                #expect(try await scene.origin.requests().isEmpty)
                try await page.run("document.activeElement.blur()")
                try await paste("  \(url)\n", on: page)
                try await page.wait("\(Self.offer) && document.getElementById('add-url').value === '\(url)'")

                try await page.run("document.querySelector('#offer').replaceChildren()")
                try await drop(url, as: "text/uri-list", on: page)
                try await page.wait(Self.offer)
                #expect(try await page.evaluate("!document.body.classList.contains('drops')"))
                try await page.run("document.querySelector('#offer').replaceChildren()")
                try await drop("nothing here", as: "text/plain", on: page)
                try await page.wait(
                    "document.querySelector('#offer .trouble')?.textContent.includes('no http or https URL')")
                // A list is somebody else's: it is shown, and may not lead to a private address.
                let count = try await scene.origin.requests().count
                try await drop("#EXTM3U\nhttp://one.example/a.m3u8\n\(url)\n", as: "text/plain", on: page)
                try await page.wait("document.querySelectorAll('#offer .proposals li').length === 2")
                try await page.run("document.querySelectorAll('#offer .proposals button')[1].click()")
                try await page.wait("document.querySelector('#offer .trouble')?.textContent.includes('private')")
                #expect(try await scene.origin.requests().count == count)
                #expect(try await page.problems() == [])
            }
        }
    }

    @Test("take the header fields and cookies of a curl command, which the page does not show")
    func commands() async throws {
        try await Scene.with { scene in
            let url = scene.origin.master("ts")
            let text = """
                curl '\(url)' \\
                  -H 'accept: */*' \\
                  -b 'sid=secret81' \\
                  -H 'range: bytes=0-' \\
                  -H 'referer: https://site.example/watch' \\
                  --compressed
                """
            try await scene.withPage { page in
                try await paste(text, on: page, into: "add-url")
                try await page.wait(Self.offer)
                let shown: String = try await page.evaluate("document.getElementById('offer').textContent")
                #expect(shown.contains("cookie, referer") || shown.contains("referer, cookie"), "\(shown)")
                #expect(!shown.contains("secret81") && !shown.contains("range"))
                try await page.run(
                    "document.querySelector('#offer input[type=radio]').click(); document.querySelector('#offer form').requestSubmit()"
                )
                try await page.wait(for: "Saved", in: "ts")
                let requests = try await scene.origin.requests()
                #expect(requests.count > 6)
                for request in requests {
                    #expect(request.headers["cookie"] == "sid=secret81", "\(request.path)")
                    #expect(request.headers["referer"] == "https://site.example/watch", "\(request.path)")
                }
                try await paste("curl '\(url)' -X POST", on: page)
                try await page.wait("document.querySelector('#offer .trouble')?.textContent.includes('sends POST')")
                #expect(try await page.problems().filter { !$0.contains("400") } == [])
            }
        }
    }
}
