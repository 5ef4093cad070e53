import Foundation
import TestSupport
import Testing

@Suite("The page's downloads together") struct PageQueueTests {
    private static let panel = "document.getElementById('queue')"

    /// Four downloads of which one runs; its segments do not come.
    private func order(_ scene: Scene) async throws {
        for path in ["/ts/*.ts", "/cmaf/*.m4s", "/aes/*.ts", "/byterange-ts/*.ts"] {
            try await scene.origin.add(OriginRule(path) { $0.hold = true })
        }
        for name in ["ts", "cmaf", "aes", "byterange-ts"] {
            try await scene.add(scene.origin.master(name), ["-q", "worst", "--name", name])
        }
    }

    private func press(_ label: String, on page: BrowserPage) async throws {
        try await page.run("\(Self.panel).querySelector('[aria-label=\"\(label)\"]').click()")
    }

    private func summary(_ text: String, on page: BrowserPage) async throws {
        try await page.wait("\(Self.panel).querySelector('summary').textContent === '\(text)'")
    }

    @Test("all are paused and resumed by one button each, and a queued one is moved to the front")
    func queue() async throws {
        try await Scene.with(options: ["--max-downloads", "1"]) { scene in
            try await order(scene)
            try await scene.withPage { page in
                try await summary("Downloads (1 running, 3 queued)", on: page)
                try await page.run("\(Self.panel).open = true")
                let names = "[...\(Self.panel).querySelectorAll('.queue li')].map(e => e.dataset.name).join()"
                try await page.wait("\(names) === 'cmaf,aes,byterange-ts'")
                try await press("Start byterange-ts first", on: page)
                try await page.wait("\(names) === 'byterange-ts,cmaf,aes'")
                try await press("Pause all downloads", on: page)
                try await summary("Downloads (4 paused)", on: page)
                for name in ["ts", "cmaf", "aes", "byterange-ts"] {
                    try await page.wait(for: "Paused at 0 %", in: name)
                }
                try await page.wait("document.activeElement === \(Self.panel).querySelector('summary')")
                try await press("Resume all downloads", on: page)
                try await summary("Downloads (1 running, 3 queued)", on: page)
                #expect(try await page.problems() == [])
            }
        }
    }

    private func limit(_ value: String, _ word: String, on page: BrowserPage) async throws -> String {
        try await page.evaluate(
            """
            (async () => {
                const form = \(Self.panel).querySelector('form'), result = form.querySelector('[role=status]');
                result.textContent = '';
                form.elements.limit.value = '\(value)';
                form.requestSubmit([...form.querySelectorAll('button')].find(b => b.textContent === '\(word)'));
                while (result.textContent === '') await new Promise(done => setTimeout(done, 20));
                return result.textContent;
            })()
            """)
    }

    @Test("the limit of all downloads is set and ended, as by weir limit, and one set elsewhere is shown")
    func limits() async throws {
        try await Scene.with { scene in
            try await scene.withPage { page in
                try await page.run("\(Self.panel).open = true")
                #expect(
                    try await limit("2.5", "Set limit", on: page)
                        == "Downloads take at most 2.5 MB/s together; players are not limited.")
                try await summary("Downloads · at most 2.5 MB/s", on: page)
                #expect(
                    try await scene.weir.run(["limit"]).output == "downloads take at most 2.5 MB/s together\n")
                #expect(try await limit("", "Set limit", on: page) == "Give a number first. Nothing was changed.")
                #expect(try await limit("", "No limit", on: page) == "Downloads are not limited.")
                #expect(try await scene.weir.run(["limit"]).output == "downloads are not limited\n")
                #expect(try await scene.weir.run(["limit", "512K"]).exit == .code(0))
                try await page.run("\(Self.panel).open = false; document.activeElement.blur()")
                try await page.run("\(Self.panel).open = true")
                try await page.wait("\(Self.panel).querySelector('[name=limit]').value === '0.5'")
                #expect(try await page.problems() == [])
            }
        }
    }
}
