import EventLoop
import Playback

extension ControlRoutes {
    /// Answers a request about sessions and their logs.
    func answer(_ request: ControlRequest, _ route: LogRoute) async throws(ControlError) -> ControlResponse {
        guard let sessions else { throw ControlError(.noSuchRoute, "the API has no \(request.path)") }
        let query = try LogQuery(request.query)
        switch route {
        case .sessions: return try ok(try await sessions.sessions())
        case .access: return try ok(try await sessions.accessLog(query))
        case .errors: return try ok(try await sessions.errorLog(query))
        case .kpis: return try ok(API.KPIReport(try await sessions.accessLog(query).events))
        }
    }
}
