import AccessLog
import EventLoop
import HTTPMessage
import Playback
import SafeText
import Testing
import WeirAPI

@testable import Control

/// Scripted sessions of one asset.
@LoopActor private final class ScriptedSessions: SessionService {
    private(set) var queries: [LogQuery] = []

    private var event: AccessEvent {
        var event = AccessEvent(session: "aabcde", guid: "G", number: 0, asset: "film", client: "p", began: 5)
        event.watched = 30
        event.startup = 1
        event.stalls = 1
        event.stallTime = 10
        return event
    }

    private(set) var reports: [String: PlayerReport] = [:]

    func sessions() async throws(APIError) -> API.SessionList { API.SessionList(sessions: []) }

    func record(_ report: PlayerReport, of session: String) async throws(APIError) -> SessionSummary {
        guard session != "none" else { throw APIError(.noSuchSession, "no session goes on that is called none") }
        reports[session] = report
        let text =
            #"{"id":"aabcde","guid":"G","asset":"film","began":5,"playhead":7.5,"stalls":1,"stallTime":0.5,"#
            + #""switches":0,"watched":7,"bytes":{"origin":0,"joined":0,"store":0},"pieces":[],"inferred":[]}"#
        return try API.decode(from: Array(text.utf8))
    }

    func accessLog(_ query: LogQuery) async throws(APIError) -> API.Log<AccessEvent> {
        queries.append(query)
        if query.asset == "none" {
            throw APIError(.noSuchAsset, "nobody knows none", next: "weir list")
        }
        return API.Log(software: "Weir/test", events: [event])
    }

    func errorLog(_ query: LogQuery) async throws(APIError) -> API.Log<ErrorEvent> {
        queries.append(query)
        return API.Log(software: "Weir/test", events: [])
    }

    private var timeline: SessionTimeline {
        SessionTimeline(session: "aabcde", guid: "G", asset: "film", client: "p", began: 5, length: 30)
    }

    func timelines(_ query: LogQuery) async throws(APIError) -> API.Log<SessionTimeline> {
        queries.append(query)
        return API.Log(software: "Weir/test", events: [timeline])
    }

    func picture(of session: String, width: Int?) async throws(APIError) -> SessionPicture {
        guard session == "G" else { throw APIError(.noSuchSession, "nobody knows \(session)") }
        return SessionPicture(timeline, width: width ?? 960)
    }
}

@LoopActor @Suite struct LogRoutesTests {
    private let sessions = ScriptedSessions()

    private func ask(
        _ path: String, query: String? = nil, method: HTTPMethod = .get, isPlaying: Bool = true, body: String = ""
    ) async -> (status: HTTPStatus, text: String) {
        var handlers = EndpointHandlers()
        if isPlaying {
            sessions.register(in: &handlers)
        }
        let routes = ControlRoutes(handlers, token: "t")
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

    @Test func theQueryIsParsedAndInvalidNumbersAreRefused() async {
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

    @Test func aSessionIsReturnedAsFiguresAndAsAPicture() async {
        let list = await ask("log/sessions", query: "asset=film&session=G&limit=2")
        #expect(list.status == .ok && list.text.contains(#""guid":"G""#) && list.text.contains(#""omitted":0"#))
        #expect(sessions.queries == [LogQuery(asset: "film", session: "G", limit: 2)])
        let picture = await ask("sessions/G/picture", query: "width=500")
        #expect(picture.status == .ok && picture.text.hasPrefix("<svg") && picture.text.contains("width=\"500\""))
        #expect(await ask("sessions/none/picture").status == .notFound)
        for query in ["width=0", "width=4097", "width=x", "height=5"] {
            #expect(await ask("sessions/G/picture", query: query).status == .badRequest, "\(query)")
        }
    }

    private static let report = #"{"playhead":7.5,"rate":1,"isStalled":false,"stalls":1,"stallTime":0.5"#

    @Test func aPlayerReportReturnsItsSession() async {
        let (status, text) = await ask(
            "sessions/mpv-1%202/report", method: .put, body: Self.report + #","framesDropped":3,"startup":0.25}"#)
        #expect(status == .ok && text.contains(#""playhead":7.5"#), "\(text)")
        #expect(
            sessions.reports == [
                "mpv-1 2": PlayerReport(
                    playhead: 7.5, rate: 1, stalls: 1, stallTime: 0.5, framesDropped: 3, startup: 0.25)
            ])
        let none = await ask("sessions/none/report", method: .put, body: Self.report + "}")
        #expect(none.status == .notFound && none.text.contains("no-such-session"))
        #expect(await ask("sessions/a/report").status == .methodNotAllowed)
    }

    @Test(arguments: [
        (#""watched":3"#, "watched"), (#""startup":-1"#, "startup"), (#""startup":null"#, "startup"),
        (#""framesDropped":-1"#, "framesDropped"), (#""framesDropped":1000000001"#, "framesDropped"),
        (#""framesDropped":1.5"#, ""), (#""startup":5e7"#, "startup"),
    ])
    func aReportWithUnknownOrImplausibleValuesIsRefusedByName(more: String, key: String) async {
        let (status, text) = await ask("sessions/a/report", method: .put, body: Self.report + ",\(more)}")
        #expect(status == .badRequest && (key.isEmpty || text.contains(key)), "\(text)")
        for (old, new) in [
            ("\"rate\":1", "\"rate\":17"), ("7.5", "-1"), ("\"stalls\":1", "\"stalls\":-1"), ("0.5", "1e300"),
        ] {
            let body = Self.report.replacing(old, with: new) + "}"
            #expect(await ask("sessions/a/report", method: .put, body: body).status == .badRequest, "\(body)")
        }
        #expect(sessions.reports.isEmpty)
    }

    @Test func errorsAreReported() async {
        #expect(await ask("log", query: "asset=none").status == .notFound)
        #expect(await ask("log", method: .post).status == .methodNotAllowed)
        for path in ["log/", "log/x", "log/errors/x", "kpis/x", "sessions/x"] {
            #expect(await ask(path).status == .notFound, "\(path)")
        }
        let (status, text) = await ask("log", isPlaying: false)
        #expect(status == .notFound && text.contains("no-such-route"))
    }

    @Test func theClientDecodesTheRoutesResponses() async throws {
        var handlers = EndpointHandlers()
        sessions.register(in: &handlers)
        let routes = ControlRoutes(handlers, token: "t")
        let event = try await sessions.accessLog(LogQuery()).events[0]
        let text = try API.encode(API.KPIReport([event]))
        #expect(try API.decode(API.KPIReport.self, from: text) == API.KPIReport([event]))
        let response = await routes.respond(to: ControlRequest(.get, "/api/v1/log", authorization: "Bearer t"))
        #expect(try API.decode(API.Log<AccessEvent>.self, from: response.body).events == [event])
    }
}
