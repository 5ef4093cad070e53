import Foundation
import Glibc
import TestSupport

/// An origin that fails by rule: ``TestOrigin``, or the program `tools/origin`, which is its model for tools in other languages.
protocol RuledOrigin: Sendable {
    var port: Int { get }

    func add(_ rules: OriginRule...) async throws
    func clearRules() async throws
    @discardableResult
    func release(_ path: String) async throws -> Int
    func requests() async throws -> [TestOrigin.Request]
    func load() async throws -> TestOrigin.Load
    func advance(_ name: String, by count: Int) async throws
    func end(_ name: String) async throws
    func stop() async throws
    func restart() async throws
}

extension RuledOrigin {
    func url(_ path: String) -> String {
        "http://127.0.0.1:\(port)\(path)"
    }
}

extension TestOrigin: RuledOrigin {}

/// Both origins, which must answer alike.
enum OriginKind: CaseIterable {
    case inProcess
    case program

    func start() async throws -> any RuledOrigin {
        switch self {
        case .inProcess: try await TestOrigin()
        case .program: try await OriginProgram()
        }
    }
}

/// A running `tools/origin`, which ends when the last reference is released.
actor OriginProgram: RuledOrigin {
    nonisolated let port: Int
    private var process: ChildProcess?

    private static let ready = "origin is listening on "

    init() async throws {
        let process = try OriginProgram.start(port: 0)
        let url = try await process.line(startingWith: OriginProgram.ready)
        guard let port = url.split(separator: ":").last.flatMap({ Int($0) }) else { throw TimedOut("a port in \(url)") }
        self.port = port
        self.process = process
    }

    func stop() async throws {
        process?.send(SIGKILL)
        _ = try await process?.end()
        process = nil
    }

    func restart() async throws {
        try await stop()
        let process = try OriginProgram.start(port: port)
        _ = try await process.line(startingWith: OriginProgram.ready)
        self.process = process
    }

    nonisolated func add(_ rules: OriginRule...) async throws {
        try await control("POST", "rules", body: JSONEncoder().encode(rules))
    }

    nonisolated func clearRules() async throws {
        try await control("DELETE", "rules")
    }

    nonisolated func release(_ path: String) async throws -> Int {
        let answer = try await control("POST", "release", body: JSONEncoder().encode(["path": path]))
        return try JSONDecoder().decode(Int.self, from: answer)
    }

    nonisolated func requests() async throws -> [TestOrigin.Request] {
        try JSONDecoder().decode([TestOrigin.Request].self, from: await control("GET", "requests"))
    }

    nonisolated func load() async throws -> TestOrigin.Load {
        try JSONDecoder().decode(TestOrigin.Load.self, from: await control("GET", "state"))
    }

    nonisolated func advance(_ name: String, by count: Int) async throws {
        struct Step: Encodable {
            let name: String
            let by: Int
        }
        try await control("POST", "live/advance", body: JSONEncoder().encode(Step(name: name, by: count)))
    }

    nonisolated func end(_ name: String) async throws {
        try await control("POST", "live/end", body: JSONEncoder().encode(["name": name]))
    }

    private static func start(port: Int) throws -> ChildProcess {
        try ChildProcess(Repository.path("tools/origin"), ["--port", String(port), "--stop-with-stdin"])
    }

    @discardableResult
    private nonisolated func control(_ method: String, _ path: String, body: Data? = nil) async throws -> Data {
        let answer = try await HTTPProbe.fetch(url("/_origin/" + path), method: method, body: body)
        guard answer.status == 200 else { throw TimedOut("status 200 for \(method) \(path), but \(answer.status)") }
        return answer.body
    }
}
