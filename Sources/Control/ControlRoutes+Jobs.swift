import API
import EventLoop
import HTTPMessage

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
