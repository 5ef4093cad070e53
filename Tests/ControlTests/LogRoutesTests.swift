import EventLoop
import HTTPMessage
import Playback
import Testing

@testable import Control

/// Sessions of one asset, as they are scripted.
@LoopActor private final class ScriptedSessions: SessionService {
    private(set) var queries: [LogQuery] = []

    private var event: AccessEvent {
        var event = AccessEvent(session: "aabcde", guid: "G", number: 0, asset: "film", client: "p", began: 5)
        (event.watched, event.startup, event.stalls, event.stallTime) = (30, 1, 1, 10)
        return event
    }

    func sessions() async throws(ControlError) -> API.SessionList { API.SessionList(sessions: []) }

    func accessLog(_ query: LogQuery) async throws(ControlError) -> API.Log<AccessEvent> {
        queries.append(query)
        if query.asset == "none" { throw ControlError(.noSuchAsset, "nobody knows none", next: "weir list") }
        return API.Log(software: "Weir/test", events: [event])
    }

    func errorLog(_ query: LogQuery) async throws(ControlError) -> API.Log<ErrorEvent> {
        queries.append(query)
        return API.Log(software: "Weir/test", events: [])
    }
}

@LoopActor @Suite struct LogRoutesTests {
    private let sessions = ScriptedSessions()

    private func ask(
        _ path: String, query: String? = nil, method: HTTPMethod = .get, isPlaying: Bool = true, body: String = ""
    ) async -> (status: HTTPStatus, text: String) {
        let routes = ControlRoutes(service: ScriptedService(), sessions: isPlaying ? sessions : nil, token: "t")
        let response = await routes.respond(
            to: ControlRequest(
                method, "/api/v1/" + path, query: query, authorization: "Bearer t", contentType: "application/json",
                body: Array(body.utf8)))
        return (response.status, String(decoding: response.body, as: UTF8.self))
    }

    @Test func eachRouteHasItsShape() async {
        #expect(await ask("sessions").text == #"{"sessions":[]}"#)
        #expect(await ask("log/errors").text == #"{"events":[],"software":"Weir/test"}"#)
        let log = await ask("log")
        #expect(log.status == .ok && log.text.contains(#""inferred":["stallTime","stalls","#))
        let kpis = await ask("kpis").text
        #expect(kpis.contains(#""stallRatio":0.25"#) && kpis.contains(#""guid":"G""#) && kpis.contains(#""total":{"#))
    }

    @Test func theQueryIsReadAndWhatIsNoNumberRefused() async {
        _ = await ask("log", query: "asset=a%20b&since=12.5&limit=7")
        _ = await ask("log/errors", query: "limit=1&since=-1e-2")
        _ = await ask("kpis", query: "limit=100000&")
        #expect(
            sessions.queries == [
                LogQuery(asset: "a b", since: 12.5, limit: 7), LogQuery(since: -0.01, limit: 1),
                LogQuery(limit: 100_000),
            ])
        for query in [
            "since=now", "since=nan", "since=0x1p3", "since=.5", "since=5.", "since=1e999", "since=", "limit=x",
            "limit=inf",
            "limit=0", "limit=-1", "limit=1e3", "limit=100001", "asset=",
        ] {
            let (status, text) = await ask("log", query: query)
            #expect(status == .badRequest && text.contains("\(query.prefix { $0 != "=" })="), "\(query)")
        }
        #expect(sessions.queries.count == 3)
    }

    @Test func whatIsWrongIsSaid() async {
        #expect(await ask("log", query: "asset=none").status == .notFound)
        #expect(await ask("log", method: .post).status == .methodNotAllowed)
        for path in ["log/", "log/x", "log/errors/x", "kpis/x", "sessions/x"] {
            #expect(await ask(path).status == .notFound, "\(path)")
        }
        let (status, text) = await ask("log", isPlaying: false)
        #expect(status == .notFound && text.contains("no-such-route"))
    }

    @Test func theClientReadsWhatTheRoutesSay() async throws {
        let routes = ControlRoutes(service: ScriptedService(), sessions: sessions, token: "t")
        let event = try await sessions.accessLog(LogQuery()).events[0]
        let text = try API.encode(API.KPIReport([event]))
        #expect(try API.decode(API.KPIReport.self, from: text) == API.KPIReport([event]))
        let response = await routes.respond(to: ControlRequest(.get, "/api/v1/log", authorization: "Bearer t"))
        #expect(try API.decode(API.Log<AccessEvent>.self, from: response.body).events == [event])
    }
}
