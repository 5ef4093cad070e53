import Foundation
import TestSupport
import Testing

/// Links of the desktop and of other pages, which the page shows before anything is done.
@Suite("Links to the page") struct PageLinkTests {
    private static let proposal = "document.querySelector('#offer .proposal')"

    @Test("of the desktop, and of a bookmarklet, change nothing before a click, and reach no private address")
    func asksFirst() async throws {
        try await Scene.with { scene in
            let url = scene.origin.master("ts")
            for kind in ["weir://", "bookmarklet"] {
                let page = try await PageBrowser.shared.page()
                if kind == "weir://" {
                    let opened = try await scene.weir.run(["open", "weir://\(url)", "--print-only"])
                    #expect(opened.exit == .code(0), "\(opened)")
                    try await page.open("file://" + opened.output.trimmingCharacters(in: .whitespacesAndNewlines))
                } else {
                    // The key is in the storage of the browser by now.
                    let encoded = try #require(url.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                    let base = "http://localhost:\(await scene.weir.port)"
                    try await page.open("\(base)/add#url=\(encoded)&url=http%3A%2F%2Fh%2Fother&play=1")
                }
                try await page.wait("\(Self.proposal) && \(Self.proposal).textContent.includes('\(url)')")
                #expect(try await page.evaluate("\(Self.proposal).querySelectorAll('li').length") == 1)
                #expect(try await scene.origin.requests().isEmpty, "\(kind)")
                #expect(try await scene.weir.run(["list", "--json"]).output == "")
                try await page.run("\(Self.proposal).querySelector('li button').click()")
                // The test's origin has a private address, which only the user may name.
                try await page.wait("document.querySelector('#offer .trouble')")
                let trouble: String = try await page.evaluate("document.querySelector('#offer .trouble').textContent")
                #expect(trouble.contains("private"), "\(trouble)")
                #expect(try await scene.origin.requests().isEmpty, "\(kind)")
                try await page.close()
            }
        }
    }

    @Test("that are no streams are refused, and the bookmarklet is printed")
    func refusals() async throws {
        try await Scene.with { scene in
            let refused = try await scene.weir.run(["open", "weir://sintel"])
            #expect(
                refused.exit == .code(65)
                    && refused.errors
                        == "weir: weir://sintel is not opened: the link has no http or https URL, or one with a password\n"
                        + "try: weir play URL, or weir get URL, which take any URL of yours\n",
                "\(refused)")
            let mark = try await scene.weir.run(["page", "--bookmarklet"])
            #expect(mark.output.hasPrefix("javascript:") && mark.output.contains("/add#url="), "\(mark)")
        }
    }
}
