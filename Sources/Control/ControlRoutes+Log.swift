import API
import AccessLog
import EventLoop
import Playback

extension ControlRoutes {
    /// Answers a request about sessions and their logs.
    func answer(_ request: ControlRequest, _ route: LogRoute, _ query: ControlQuery) async throws(APIError)
        -> ControlResponse
    {
        guard let sessions else { throw APIError(.noSuchRoute, "the API has no \(request.path)") }
        switch route {
        case .sessions: return try ok(try await sessions.sessions())
        case .report(let session):
            let report: PlayerReport = try Self.body(request)
            if let key = report.keyOutOfRange {
                throw APIError(.badRequest, "\(key) is out of its range", next: "correct it, or leave it out")
            }
            return try ok(try await sessions.take(report, of: session))
        case .access: return try ok(try await sessions.accessLog(LogQuery(query)))
        case .errors: return try ok(try await sessions.errorLog(LogQuery(query)))
        case .kpis: return try ok(API.KPIReport(try await sessions.accessLog(LogQuery(query)).events))
        }
    }
}
