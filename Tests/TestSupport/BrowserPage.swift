import Foundation

/// A page of a ``Browser``.
package struct BrowserPage: Sendable {
    let browser: Browser
    let session: String
    let target: String

    private struct Nothing: Decodable {}

    /// Sends a DevTools command and ignores its result.
    package func call(_ method: String, _ parameters: [String: BrowserValue] = [:]) async throws {
        let _: Nothing = try await browser.call(method, parameters, session: session)
    }

    /// Navigates to a URL and waits until it has loaded or failed.
    package func open(_ url: String) async throws {
        try await call("Page.navigate", ["url": .text(url)])
        try await wait("document.readyState === 'complete'")
    }

    /// Runs a script at the start of each later document, before the document's scripts.
    package func prepare(_ script: String) async throws {
        try await call("Page.addScriptToEvaluateOnNewDocument", ["source": .text(script)])
    }

    /// Evaluates a JavaScript expression, awaits its promise, and returns the value. Counts as a user gesture.
    package func evaluate<Value: Decodable>(_ script: String, as type: Value.Type = Value.self) async throws -> Value {
        let answer: Evaluation<Value> = try await browser.call(
            "Runtime.evaluate",
            [
                "expression": .text(script), "awaitPromise": true, "returnByValue": true, "userGesture": true,
            ], session: session)
        if let details = answer.exceptionDetails {
            throw Browser.Failure(description: details.exception?.description ?? details.text)
        }
        guard let value = answer.result.value else { throw Browser.Failure(description: "no value: \(script)") }
        return value
    }

    package func run(_ script: String) async throws {
        let _: Bool = try await evaluate("(async () => { \(script); return true })()")
    }

    /// Waits until a JavaScript expression is true. An error, as in a document that is unloading, counts as false.
    package func wait(_ condition: String, within bound: Duration = .seconds(30)) async throws {
        var last = ""
        do {
            try await waitUntil(condition, within: bound) {
                do {
                    return try await evaluate("Boolean(\(condition))")
                } catch let error as Browser.Failure {
                    last = error.description
                    return false
                }
            }
        } catch {
            let seen = (try? await evaluate("document.body.innerText.slice(0, 2000)", as: String.self)) ?? ""
            throw TimedOut("\(condition); \(last); the page says: \(seen)")
        }
    }

    package func events() async throws -> [Browser.Event] {
        try await browser.events().filter { $0.sessionId == session }
    }

    /// The URLs that the page requested, without `data:`, `blob:` and `about:`.
    package func requests() async throws -> [String] {
        try await events().filter { $0.method == "Network.requestWillBeSent" }.compactMap(\.params.request?.url)
            .filter { !$0.hasPrefix("data:") && !$0.hasPrefix("blob:") && !$0.hasPrefix("about:") }
    }

    /// The responses to the page, as URL and status.
    package func responses() async throws -> [(url: String, status: Int)] {
        try await events().filter { $0.method == "Network.responseReceived" }.compactMap(\.params.response)
            .map { ($0.url, $0.status) }
    }

    /// Script exceptions, browser errors and dialogs of the page.
    package func problems() async throws -> [String] {
        try await events().compactMap { event in
            switch event.method {
            case "Runtime.exceptionThrown": event.params.exceptionDetails?.text
            case "Page.javascriptDialogOpening": "a dialog"
            // Network errors, such as a missing media file, are not script errors.
            case "Log.entryAdded" where event.params.entry?.level == "error" && event.params.entry?.source != "network":
                event.params.entry?.text
            default: nil
            }
        }
    }

    package func close() async throws {
        let _: Nothing = try await browser.call("Target.closeTarget", ["targetId": .text(target)])
    }
}

private struct Evaluation<Value: Decodable>: Decodable {
    struct Result: Decodable { let value: Value? }
    struct Details: Decodable {
        let text: String
        let exception: Exception?
    }
    struct Exception: Decodable { let description: String? }

    let result: Result
    let exceptionDetails: Details?
}
