import Foundation
import Glibc

/// A headless Chromium (`tools/lab/browser`), driven by the Chrome DevTools Protocol.
///
/// It ends with the last reference, or with the test process.
public final class Browser: Sendable {
    /// What Chromium told, as far as tests look at it.
    public struct Event: Decodable, Sendable {
        /// The parameters that there may be.
        public struct Parameters: Decodable, Sendable {
            /// Of `Network.requestWillBeSent`.
            public struct Request: Decodable, Sendable {
                /// The whole URL; absent for the handshake of a WebSocket.
                public let url: String?
            }
            /// Of `Network.responseReceived`.
            public struct Response: Decodable, Sendable {
                /// The whole URL.
                public let url: String
                /// As it came.
                public let status: Int
            }
            /// Of `Log.entryAdded`: what stands in the console that no script wrote.
            public struct Entry: Decodable, Sendable {
                /// `error`, `warning`, …
                public let level: String
                /// `security`, `network`, …
                public let source: String
                /// The sentence.
                public let text: String
            }
            /// Of `Runtime.exceptionThrown`.
            public struct Exception: Decodable, Sendable {
                /// In a few words.
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
        /// Such as `Network.requestWillBeSent`.
        public let method: String
        /// The page's, where it is of one.
        public let sessionId: String?
        /// What it says.
        public let params: Parameters
    }

    /// What the browser, or a script in it, refuses.
    public struct Failure: Error, CustomStringConvertible {
        /// Why.
        public let description: String
    }

    private let process: ChildProcess
    private let address: String

    /// Starts a Chromium over an empty profile.
    ///
    /// - Parameter options: of Chromium's, such as `--host-resolver-rules=…`.
    public init(options: [String] = []) async throws {
        process = try ChildProcess(Repository.path("tools/lab/browser"), options.map { "--option=\($0)" })
        address = try await process.line(startingWith: "browser is listening on ", within: .seconds(60))
    }

    /// Ends it in good order: its profile goes as well.
    public func close() async throws {
        process.send(SIGTERM)
        _ = try await process.end()
    }

    /// A new page, whose events are told from now on.
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

    /// All events so far.
    func events() async throws -> [Event] {
        try JSONDecoder().decode([Event].self, from: try await HTTPProbe.fetch(address + "/events").body)
    }

    /// Performs a command of the protocol.
    func call<Result: Decodable>(
        _ method: String, _ parameters: [String: BrowserValue] = [:], session: String? = nil
    ) async throws -> Result {
        let wish = try JSONEncoder().encode(Wish(method: method, session: session, parameters: parameters))
        let reply = try await HTTPProbe.fetch(address + "/", method: "POST", body: wish, within: .seconds(70))
        let answer = try JSONDecoder().decode(Answer<Result>.self, from: reply.body)
        guard let result = answer.result else { throw Failure(description: answer.error ?? reply.text) }
        return result
    }
}

private struct Wish: Encodable {
    let method: String
    let session: String?
    let parameters: [String: BrowserValue]
}

private struct Answer<Result: Decodable>: Decodable {
    let result: Result?
    let error: String?
}

/// A parameter of a command.
public enum BrowserValue: Encodable, Sendable, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral
{
    /// A string.
    case text(String)
    /// A number.
    case number(Int)
    /// True or false.
    case flag(Bool)
    /// Several objects of strings.
    case objects([[String: String]])

    /// A flag.
    public init(booleanLiteral value: Bool) { self = .flag(value) }
    /// A number.
    public init(integerLiteral value: Int) { self = .number(value) }
    /// A string.
    public init(stringLiteral value: String) { self = .text(value) }

    /// Writes what it has.
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
