import HTTPMessage

extension APIClient {
    /// Starts a job on an asset, or attaches to a running one.
    public func begin<Job: API.Job>(
        _ job: Job.Type = Job.self, _ request: Job.Request, ofAsset name: String
    ) async throws(APIError) -> Job {
        try await call("POST", Self.route(job, name), body: try API.encode(request))
    }

    /// The state of the last job on an asset.
    public func look<Job: API.Job>(at job: Job.Type = Job.self, ofAsset name: String) async throws(APIError) -> Job {
        try await call("GET", Self.route(job, name))
    }

    /// Cancels a job.
    public func cancel<Job: API.Job>(_ job: Job.Type = Job.self, ofAsset name: String) async throws(APIError) -> Job {
        try await call("DELETE", Self.route(job, name))
    }

    private static func route<Job: API.Job>(_ job: Job.Type, _ name: String) -> String {
        "/assets/\(PercentEncoding.encode(name))/\(job.kind.rawValue)"
    }
}

extension APIClient {
    /// The state of an asset's keys, without key material.
    public func keys(ofAsset name: String) async throws(APIError) -> API.KeyList {
        try await call("GET", Self.route(keysOf: name))
    }

    /// Renews, revokes or dates keys of an asset.
    public func order(_ order: API.KeyOrder, ofAsset name: String) async throws(APIError) -> API.KeyList {
        try await call("POST", Self.route(keysOf: name), body: try API.encode(order), isLong: order.action == .renew)
    }

    /// Revokes every key of every asset.
    public func invalidateAllKeys() async throws(APIError) -> [API.KeyList] {
        let lists: API.KeyLists = try await call("POST", "/keys", body: try API.encode(API.KeyOrder(.invalidate)))
        return lists.assets
    }

    private static func route(keysOf name: String) -> String { "/assets/\(PercentEncoding.encode(name))/keys" }
}
