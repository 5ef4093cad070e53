import Foundation

/// A page of a ``Browser``.
public struct BrowserPage: Sendable {
    let browser: Browser
    let session: String
    let target: String

    private struct Nothing: Decodable {}

    /// Sends a DevTools command and ignores its result.
    public func call(_ method: String, _ parameters: [String: BrowserValue] = [:]) async throws {
        let _: Nothing = try await browser.call(method, parameters, session: session)
    }

    /// Navigates to a URL and waits until it has loaded or failed.
    public func open(_ url: String) async throws {
        try await call("Page.navigate", ["url": .text(url)])
        try await wait("document.readyState === 'complete'")
    }

    /// Runs a script at the start of each later document, before the document's scripts.
    public func prepare(_ script: String) async throws {
        try await call("Page.addScriptToEvaluateOnNewDocument", ["source": .text(script)])
    }

    /// Evaluates a JavaScript expression, awaits its promise, and returns the value. Counts as a user gesture.
    public func evaluate<Value: Decodable>(_ script: String, as type: Value.Type = Value.self) async throws -> Value {
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

    /// Runs a script and ignores its value.
    public func run(_ script: String) async throws {
        let _: Bool = try await evaluate("(async () => { \(script); return true })()")
    }

    /// Waits until a JavaScript expression is true. An error, as in a document that is unloading, counts as false.
    public func wait(_ condition: String, within bound: Duration = .seconds(30)) async throws {
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

    /// All recorded events of the page.
    public func events() async throws -> [Browser.Event] {
        try await browser.events().filter { $0.sessionId == session }
    }

    /// The URLs that the page requested, without `data:`, `blob:` and `about:`.
    public func requests() async throws -> [String] {
        try await events().filter { $0.method == "Network.requestWillBeSent" }.compactMap(\.params.request?.url)
            .filter { !$0.hasPrefix("data:") && !$0.hasPrefix("blob:") && !$0.hasPrefix("about:") }
    }

    /// The responses to the page, as URL and status.
    public func responses() async throws -> [(url: String, status: Int)] {
        try await events().filter { $0.method == "Network.responseReceived" }.compactMap(\.params.response)
            .map { ($0.url, $0.status) }
    }

    /// Script exceptions, browser errors and dialogs of the page.
    public func problems() async throws -> [String] {
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

    /// Closes the page.
    public func close() async throws {
        let _: Nothing = try await browser.call("Target.closeTarget", ["targetId": .text(target)])
    }
}

/// The answer to `Runtime.evaluate`.
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
