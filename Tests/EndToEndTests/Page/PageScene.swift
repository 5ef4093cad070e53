import Foundation
import TestSupport

/// The browser shared by the page tests. Each test has its own pages, origin and Weir.
enum PageBrowser {
    /// A name that resolves to this machine, as in DNS rebinding.
    static let foreignHost = "evil.example"

    private static let started = Task {
        try await Browser(options: ["--host-resolver-rules=MAP *.example 127.0.0.1"])
    }

    /// The browser; it ends with the test process.
    static var shared: Browser { get async throws { try await started.value } }
}

extension Scene {
    /// The link that `weir page` prints.
    func pageLink() async throws -> String {
        let result = try await weir.run(["page"])
        guard result.exit == .code(0) else { throw TimedOut("a link: \(result.errors)") }
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Opens the page in the shared browser, waits for its list, and closes it after the body.
    func withPage(preparing script: String = "", _ body: (BrowserPage) async throws -> Void) async throws {
        let page = try await PageBrowser.shared.page()
        if !script.isEmpty {
            try await page.prepare(script)
        }
        try await page.open(try await pageLink())
        try await page.wait("!document.getElementById('tools').hidden")
        try await body(page)
        try await page.close()
    }

    /// Adds a download with `weir add` and pauses it.
    func add(_ source: String, _ options: [String] = []) async throws {
        let result = try await weir.run(["add", source] + options)
        guard result.exit == .code(0) else { throw TimedOut("a download: \(result.errors)") }
    }
}

extension BrowserPage {
    /// A JavaScript expression for the row of an asset.
    static func row(_ name: String) -> String { "document.querySelector('.row[data-name=\"\(name)\"]')" }

    /// A JavaScript expression for a visible button of a row, by its label.
    static func button(_ word: String, of name: String) -> String {
        "[...\(row(name)).querySelectorAll('button')].find(b => !b.hidden && b.textContent.startsWith('\(word)'))"
    }

    /// Shows all of a row, which is short until then.
    func unfold(_ name: String) async throws {
        try await wait(Self.row(name))
        try await run("\(Self.row(name)).querySelector('.row-short .more')?.click()")
    }

    /// Chooses the option of a text in a list of the player, by the beginning of the list's label.
    func choose(_ text: String, in label: String) async throws {
        try await run(
            """
            const label = [...document.querySelectorAll('.player-choices label')].find(l => l.innerText.startsWith('\(label)'));
            const select = label.querySelector('select');
            select.value = [...select.options].find(o => o.textContent.includes('\(text)')).value;
            select.dispatchEvent(new Event('change', {bubbles: true}))
            """)
    }

    /// Clicks a button of a row once it appears.
    func click(_ word: String, of name: String) async throws {
        let button = Self.button(word, of: name)
        try await wait(Self.row(name))
        // A short row has its other buttons after More.
        if word != "More" {
            let more = "\(Self.row(name)).querySelector('.row-short .more')"
            try await run("if (!\(button)?.checkVisibility()) \(more)?.click()")
        }
        try await wait("\(button)?.checkVisibility()")
        // As a real click does.
        try await run("const b = \(Self.button(word, of: name)); b.focus(); b.click()")
    }

    /// Presses and releases a key without text, such as `End`.
    func press(_ key: String) async throws {
        let code = ["Tab": 9, "End": 35, "Home": 36][key] ?? 0
        for type in ["rawKeyDown", "keyUp"] {
            try await call(
                "Input.dispatchKeyEvent",
                [
                    "type": .text(type), "key": .text(key), "code": .text(key), "windowsVirtualKeyCode": .number(code),
                ])
        }
    }

    /// Waits until a row contains a text.
    func wait(for text: String, in name: String) async throws {
        let literal = String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
        try await wait("\(Self.row(name)) && \(Self.row(name)).textContent.includes(\(literal))")
    }
}
