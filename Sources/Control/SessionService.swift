package import AccessLog
package import Assets
package import EventLoop
import HTTPMessage
package import Sessions
package import WeirAPI

/// The control API's access to sessions and their logs.
@LoopActor package protocol SessionService: AnyObject, Sendable {
    func sessions() async throws(APIError) -> API.SessionList
    /// Records a report of a player. Throws `.noSuchSession` if no running session has this id.
    func record(_ report: PlayerReport, of session: String) async throws(APIError) -> SessionSummary
    /// The access log. Throws `.noSuchAsset` for an asset that neither the library nor the log knows.
    func accessLog(_ query: LogQuery) async throws(APIError) -> API.Log<AccessEvent>
    /// The error log. Throws as `accessLog` does.
    func errorLog(_ query: LogQuery) async throws(APIError) -> API.Log<ErrorEvent>
    /// The timelines of sessions. Throws as `accessLog` does.
    func timelines(_ query: LogQuery) async throws(APIError) -> API.Log<SessionTimeline>
    /// The picture of a session, named by its id or UUID. Throws `.noSuchSession` if the log does not know it.
    func picture(of session: String, width: Int?) async throws(APIError) -> SessionPicture
}

extension SessionService {
    package func register(in handlers: inout EndpointHandlers) {
        handlers.on(Endpoints.sessions) { _ throws(APIError) in try await self.sessions() }
        handlers.on(Endpoints.report) { call, report throws(APIError) in
            if let key = report.keyOutOfRange {
                throw APIError(.badRequest, "\(key) is out of its range", next: "correct it, or leave it out")
            }
            return try await self.record(report, of: call.item)
        }
        handlers.on(Endpoints.accessLog) { call throws(APIError) in try await self.accessLog(LogQuery(call.query)) }
        handlers.on(Endpoints.errorLog) { call throws(APIError) in try await self.errorLog(LogQuery(call.query)) }
        handlers.on(Endpoints.timelines) { call throws(APIError) in try await self.timelines(LogQuery(call.query)) }
        handlers.on(Endpoints.kpis) { call throws(APIError) in
            API.KPIReport(try await self.accessLog(LogQuery(call.query)).events)
        }
        handlers.onBytes(Endpoints.picture) { call throws(APIError) in
            let width = try call.query.count("width", upTo: SessionPicture.widths.upperBound)
            let picture = try await self.picture(of: call.item, width: width)
            return ControlResponse(status: .ok, body: Array(picture.svg.utf8), mediaType: "image/svg+xml")
        }
    }
}

/// Answers the API's questions about sessions from playback.
@LoopActor package final class PlaybackService: SessionService {
    private let playback: SessionRecords
    private let library: Library

    package init(_ playback: SessionRecords, library: Library) {
        self.playback = playback
        self.library = library
    }

    package func sessions() async throws(APIError) -> API.SessionList {
        let sessions = playback.summaries.map { summary in
            guard summary.ended == nil else { return summary }
            return qualified(summary)
        }
        return API.SessionList(sessions: sessions)
    }

    /// A running session with the quality of the pieces that it got last.
    private func qualified(_ summary: SessionSummary) -> SessionSummary {
        guard let asset = library.asset(named: summary.asset) else { return summary }
        let latest = summary.pieces.reversed().map { piece in
            piece.substitute ?? piece.rendition
        }
        guard let variant = AssetShapes(asset).variant(firstOf: latest) else { return summary }
        var summary = summary
        summary.quality = variant.quality
        summary.bandwidth = variant.bandwidth
        return summary
    }

    package func record(_ report: PlayerReport, of session: String) async throws(APIError) -> SessionSummary {
        guard let summary = playback.apply(report, to: session) else {
            throw APIError(.noSuchSession, "there is no running session \(session)")
        }
        return summary
    }

    package func accessLog(_ query: LogQuery) async throws(APIError) -> API.Log<AccessEvent> {
        try log(query, await playback.accessEvents(query))
    }

    package func errorLog(_ query: LogQuery) async throws(APIError) -> API.Log<ErrorEvent> {
        try log(query, await playback.errorEvents(query))
    }

    package func timelines(_ query: LogQuery) async throws(APIError) -> API.Log<SessionTimeline> {
        try log(query, await playback.timelines(query))
    }

    package func picture(of session: String, width: Int?) async throws(APIError) -> SessionPicture {
        guard let timeline = await playback.timeline(of: session) else {
            throw APIError(
                .noSuchSession, "the log has no session \(session) that received media", next: "weir log")
        }
        let title = library.asset(named: timeline.asset)?.title
        guard let width else { return SessionPicture(timeline, title: title) }
        return SessionPicture(timeline, title: title, width: width)
    }

    private func log<Event: LogEvent>(_ query: LogQuery, _ events: [Event]) throws(APIError) -> API.Log<Event> {
        if let name = query.asset, events.isEmpty, library.asset(named: name) == nil {
            let plain = UserInformation(splitting: name).url
            throw APIError(.noSuchAsset, "neither the library nor the log knows \(plain)", next: "weir list")
        }
        return API.Log(software: playback.software, events: events)
    }
}
