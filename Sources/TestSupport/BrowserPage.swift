import Foundation

/// A page of a ``Browser``.
public struct BrowserPage: Sendable {
    let browser: Browser
    let session: String
    let target: String

    private struct Nothing: Decodable {}

    /// Performs a command whose answer is of no account.
    public func call(_ method: String, _ parameters: [String: BrowserValue] = [:]) async throws {
        let _: Nothing = try await browser.call(method, parameters, session: session)
    }

    /// Goes to a URL, and waits until it is loaded, or failed.
    public func open(_ url: String) async throws {
        try await call("Page.navigate", ["url": .text(url)])
        try await wait("document.readyState === 'complete'")
    }

    /// Runs a script in each document from now on, before the document's own.
    public func prepare(_ script: String) async throws {
        try await call("Page.addScriptToEvaluateOnNewDocument", ["source": .text(script)])
    }

    /// The value of a JavaScript expression, or of its promise, with the rights of someone who has just clicked.
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

    /// Runs a script for what it does.
    public func run(_ script: String) async throws {
        let _: Bool = try await evaluate("(async () => { \(script); return true })()")
    }

    /// Waits until a JavaScript expression is true. A document that is on its way out counts as no.
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

    /// What it did and what happened to it.
    public func events() async throws -> [Browser.Event] {
        try await browser.events().filter { $0.sessionId == session }
    }

    /// The URLs that it asked for, without those that lie in itself (`data:`, `blob:`).
    public func requests() async throws -> [String] {
        try await events().filter { $0.method == "Network.requestWillBeSent" }.compactMap(\.params.request?.url)
            .filter { !$0.hasPrefix("data:") && !$0.hasPrefix("blob:") && !$0.hasPrefix("about:") }
    }

    /// The answers that it got: URL and status.
    public func responses() async throws -> [(url: String, status: Int)] {
        try await events().filter { $0.method == "Network.responseReceived" }.compactMap(\.params.response)
            .map { ($0.url, $0.status) }
    }

    /// What its scripts threw, what the browser refused to them, and dialogs.
    public func problems() async throws -> [String] {
        try await events().compactMap { event in
            switch event.method {
            case "Runtime.exceptionThrown": event.params.exceptionDetails?.text
            case "Page.javascriptDialogOpening": "a dialog"
            // That a media file is not there is none of a script's.
            case "Log.entryAdded" where event.params.entry?.level == "error" && event.params.entry?.source != "network":
                event.params.entry?.text
            default: nil
            }
        }
    }

    /// Closes it.
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
