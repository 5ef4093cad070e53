package import API
package import AccessLog
package import EventLoop
import HTTPMessage
package import Library
package import Playback

/// The control API's access to sessions and their logs.
@LoopActor package protocol SessionService: AnyObject, Sendable {
    func sessions() async throws(APIError) -> API.SessionList
    /// Records a report of a player. Throws `.noSuchSession` if no running session has this id.
    func record(_ report: PlayerReport, of session: String) async throws(APIError) -> SessionSummary
    /// The access log. Throws `.noSuchAsset` for an asset that neither the library nor the log knows.
    func accessLog(_ query: LogQuery) async throws(APIError) -> API.Log<AccessEvent>
    /// The error log. Throws as `accessLog` does.
    func errorLog(_ query: LogQuery) async throws(APIError) -> API.Log<ErrorEvent>
}

/// Answers the API's questions about sessions from playback.
@LoopActor package final class PlaybackService: SessionService {
    private let playback: Sessions
    private let library: Library

    package init(_ playback: Sessions, library: Library) { (self.playback, self.library) = (playback, library) }

    package func sessions() async throws(APIError) -> API.SessionList { API.SessionList(sessions: playback.summaries) }

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

    private func log<Event: LogEvent>(_ query: LogQuery, _ events: [Event]) throws(APIError) -> API.Log<Event> {
        if let name = query.asset, events.isEmpty, library.asset(named: name) == nil {
            let plain = UserInformation(splitting: name).url
            throw APIError(.noSuchAsset, "neither the library nor the log knows \(plain)", next: "weir list")
        }
        return API.Log(software: playback.software, events: events)
    }
}
