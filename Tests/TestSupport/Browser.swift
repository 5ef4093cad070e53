import Foundation
import Glibc

/// A headless Chromium (`tools/lab/browser`), driven by the Chrome DevTools Protocol.
///
/// Chromium ends when the last reference is released, or with the test process.
public final class Browser: Sendable {
    /// A DevTools event, with the fields that tests use.
    public struct Event: Decodable, Sendable {
        /// Parameters of the event; all are optional.
        public struct Parameters: Decodable, Sendable {
            /// The request of `Network.requestWillBeSent`.
            public struct Request: Decodable, Sendable {
                /// The absolute URL; nil for a WebSocket handshake.
                public let url: String?
            }
            /// The response of `Network.responseReceived`.
            public struct Response: Decodable, Sendable {
                /// The absolute URL.
                public let url: String
                /// The status code.
                public let status: Int
            }
            /// The entry of `Log.entryAdded`: a console line that the browser wrote.
            public struct Entry: Decodable, Sendable {
                /// `error`, `warning`, …
                public let level: String
                /// `security`, `network`, …
                public let source: String
                /// The message.
                public let text: String
            }
            /// The exception of `Runtime.exceptionThrown`.
            public struct Exception: Decodable, Sendable {
                /// A short description.
                public let text: String
            }
            /// The request.
            public let request: Request?
            /// The response.
            public let response: Response?
            /// The entry.
            public let entry: Entry?
            /// The exception.
            public let exceptionDetails: Exception?
        }
        /// Event name, such as `Network.requestWillBeSent`.
        public let method: String
        /// Session id of the page; nil for browser events.
        public let sessionId: String?
        /// Parameters of the event.
        public let params: Parameters
    }

    /// A command or a script failed in the browser.
    public struct Failure: Error, CustomStringConvertible {
        /// Reason given by the browser.
        public let description: String
    }

    private let process: ChildProcess
    private let address: String

    /// Starts Chromium with an empty profile.
    ///
    /// - Parameter options: Chromium options, such as `--host-resolver-rules=…`.
    public init(options: [String] = []) async throws {
        process = try ChildProcess(Repository.path("tools/lab/browser"), options.map { "--option=\($0)" })
        address = try await process.line(startingWith: "browser is listening on ", within: .seconds(60))
    }

    /// Ends Chromium gracefully and deletes its profile.
    public func close() async throws {
        process.send(SIGTERM)
        _ = try await process.end()
    }

    /// Opens a new page and starts to record its events.
    public func page() async throws -> BrowserPage {
        struct Target: Decodable { let targetId: String }
        struct Session: Decodable { let sessionId: String }
        let target: Target = try await call(
            "Target.createTarget", ["url": "about:blank", "newWindow": true, "width": 1280, "height": 800])
        let session: Session = try await call(
            "Target.attachToTarget", ["targetId": .text(target.targetId), "flatten": true])
        let page = BrowserPage(browser: self, session: session.sessionId, target: target.targetId)
        for domain in ["Page", "Network", "Runtime", "Log"] { try await page.call("\(domain).enable") }
        return page
    }

    /// All recorded events.
    func events() async throws -> [Event] {
        try JSONDecoder().decode([Event].self, from: try await HTTPProbe.fetch(address + "/events").body)
    }

    /// Sends a DevTools command and decodes its result.
    func call<Result: Decodable>(
        _ method: String, _ parameters: [String: BrowserValue] = [:], session: String? = nil
    ) async throws -> Result {
        let command = try JSONEncoder().encode(Command(method: method, session: session, parameters: parameters))
        let reply = try await HTTPProbe.fetch(address + "/", method: "POST", body: command, within: .seconds(70))
        let answer = try JSONDecoder().decode(Answer<Result>.self, from: reply.body)
        guard let result = answer.result else { throw Failure(description: answer.error ?? reply.text) }
        return result
    }
}

private struct Command: Encodable {
    let method: String
    let session: String?
    let parameters: [String: BrowserValue]
}

private struct Answer<Result: Decodable>: Decodable {
    let result: Result?
    let error: String?
}

/// A parameter of a DevTools command.
public enum BrowserValue: Encodable, Sendable, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral
{
    /// A string.
    case text(String)
    /// A number.
    case number(Int)
    /// A Boolean.
    case flag(Bool)
    /// A list of objects with string values.
    case objects([[String: String]])

    /// Creates a flag.
    public init(booleanLiteral value: Bool) { self = .flag(value) }
    /// Creates a number.
    public init(integerLiteral value: Int) { self = .number(value) }
    /// Creates a string.
    public init(stringLiteral value: String) { self = .text(value) }

    /// Encodes the bare value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .objects(let objects): try container.encode(objects)
        }
    }
}
