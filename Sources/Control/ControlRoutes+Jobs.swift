import EventLoop
import HTTPMessage

extension ControlRoutes {
    /// Answers a request about a job on an asset.
    func answer<Job: API.Job>(
        _ request: ControlRequest, _ jobs: (any JobService<Job>)?, ofAsset name: String
    ) async throws(ControlError) -> ControlResponse {
        guard let jobs else { throw ControlError(.noSuchRoute, "the API has no \(request.path)") }
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

extension ControlClient {
    /// Begins a job on an asset, or attaches to what is under way.
    public func begin<Job: API.Job>(
        _ job: Job.Type = Job.self, _ request: Job.Request, ofAsset name: String
    ) async throws(ControlError) -> Job {
        try await call("POST", Self.route(job, name), body: try API.encode(request))
    }

    /// How the last job on an asset stands.
    public func look<Job: API.Job>(at job: Job.Type = Job.self, ofAsset name: String) async throws(ControlError) -> Job
    {
        try await call("GET", Self.route(job, name))
    }

    /// Gives a job up.
    public func cancel<Job: API.Job>(_ job: Job.Type = Job.self, ofAsset name: String) async throws(ControlError) -> Job
    {
        try await call("DELETE", Self.route(job, name))
    }

    private static func route<Job: API.Job>(_ job: Job.Type, _ name: String) -> String {
        "/assets/\(PercentEncoding.encode(name))/\(job.kind.rawValue)"
    }
}
