import Foundation
import Glibc

/// A headless Chromium (`tools/lab/browser`), driven by the Chrome DevTools Protocol, or a Firefox (`tools/lab/firefox`) with the few
/// commands of it that pages need: it has no events.
///
/// The browser ends when the last reference is released, or with the test process.
package final class Browser: Sendable {
    /// A DevTools event, with the fields that tests use.
    package struct Event: Decodable, Sendable {
        package struct Parameters: Decodable, Sendable {
            package struct Request: Decodable, Sendable {
                package let url: String?
            }
            package struct Response: Decodable, Sendable {
                package let url: String
                package let status: Int
            }
            /// The entry of `Log.entryAdded`: a console line that the browser wrote.
            package struct Entry: Decodable, Sendable {
                package let level: String
                package let source: String
                package let text: String
            }
            package struct Exception: Decodable, Sendable {
                package let text: String
            }
            package let request: Request?
            package let response: Response?
            package let entry: Entry?
            package let exceptionDetails: Exception?
        }
        package let method: String
        /// Session id of the page; nil for browser events.
        package let sessionId: String?
        package let params: Parameters
    }

    /// A command or a script failed in the browser.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package enum Program: Sendable {
        case chromium
        case firefox

        /// The program that drives it.
        fileprivate var driver: String {
            switch self {
            case .chromium: "tools/lab/browser"
            case .firefox: "tools/lab/firefox"
            }
        }

        package var isInstalled: Bool {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            let names: [String]
            switch self {
            case .chromium: names = ["chromium"]
            case .firefox: names = ["firefox-esr", "firefox"]
            }
            return folders.contains { folder in
                names.contains { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
            }
        }
    }

    private let process: ChildProcess
    private let address: String

    /// Starts a browser with an empty profile.
    ///
    /// - Parameter options: Chromium options, such as `--host-resolver-rules=…`.
    package init(_ program: Program = .chromium, options: [String] = []) async throws {
        process = try ChildProcess(Repository.path(program.driver), options.map { "--option=\($0)" })
        address = try await process.line(startingWith: "browser is listening on ", within: .seconds(60))
    }

    /// Ends Chromium gracefully and deletes its profile.
    package func close() async throws {
        process.send(SIGTERM)
        _ = try await process.end()
    }

    /// Opens a new page and starts to record its events.
    package func page() async throws -> BrowserPage {
        struct Target: Decodable { let targetId: String }
        struct Session: Decodable { let sessionId: String }
        let target: Target = try await call(
            "Target.createTarget", ["url": "about:blank", "newWindow": true, "width": 1280, "height": 800])
        let session: Session = try await call(
            "Target.attachToTarget", ["targetId": .text(target.targetId), "flatten": true])
        let page = BrowserPage(browser: self, session: session.sessionId, target: target.targetId)
        for domain in ["Page", "Network", "Runtime", "Log"] {
            try await page.call("\(domain).enable")
        }
        return page
    }

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
package enum BrowserValue: Encodable, Sendable, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByStringLiteral
{
    case text(String)
    case number(Int)
    case flag(Bool)
    /// A list of objects with string values.
    case objects([[String: String]])
    case object([String: BrowserValue])
    case list([BrowserValue])

    package init(booleanLiteral value: Bool) { self = .flag(value) }
    package init(integerLiteral value: Int) { self = .number(value) }
    package init(stringLiteral value: String) { self = .text(value) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        case .flag(let flag): try container.encode(flag)
        case .objects(let objects): try container.encode(objects)
        case .object(let object): try container.encode(object)
        case .list(let list): try container.encode(list)
        }
    }
}
