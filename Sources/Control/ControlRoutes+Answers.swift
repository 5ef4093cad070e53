import API
import AccessLog
import EventLoop
import HTTPMessage
import Playback

extension ControlRoutes {
    /// Answers a request about a job on an asset.
    func answer<Job: API.Job>(
        _ request: ControlRequest, _ jobs: (any JobService<Job>)?, ofAsset name: String
    ) async throws(APIError) -> ControlResponse {
        guard let jobs else { throw APIError(.noSuchRoute, "the API has no \(request.path)") }
        switch request.method {
        case .post:
            let plain = request.body.isEmpty ? Job.requestWithoutBody : nil
            let wish = if let plain { plain } else { try Self.body(request) as Job.Request }
            let job = try await jobs.begin(wish, ofAsset: name)
            return ControlResponse(status: .accepted, body: try API.encode(job))
        case .delete: return try ok(try await jobs.cancelJob(ofAsset: name))
        default: return try ok(try await jobs.job(ofAsset: name))
        }
    }
}

extension ControlRoutes {
    /// Answers a request about the keys of an asset, or of all assets if `name` is nil.
    func keys(_ request: ControlRequest, of name: String?) async throws(APIError) -> ControlResponse {
        guard let keys else { throw APIError(.noSuchRoute, "the API has no \(request.path)") }
        guard let name else {
            let order: API.KeyOrder = try Self.body(request)
            guard order == API.KeyOrder(.invalidate) else {
                throw APIError(.badRequest, "of all assets' keys there is only: {\"action\": \"invalidate\"}")
            }
            return try ok(try await keys.invalidateAllKeys())
        }
        guard request.method == .post else { return try ok(try await keys.keys(ofAsset: name)) }
        return try ok(try await keys.order(try Self.body(request), ofAsset: name))
    }
}

extension ControlRoutes {
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

extension ControlRoutes {
    /// Answers a request about the most recent link conditioner that uses this daemon's state directory.
    func link(_ request: ControlRequest) async throws(APIError) -> ControlResponse {
        guard let conditioner else { throw APIError(.noSuchRoute, "the API has no \(request.path)") }
        guard request.method == .patch else { return try ok(try await conditioner().state()) }
        let change: LinkChange = try Self.body(request)
        return try ok(try await conditioner().change(change))
    }
}
