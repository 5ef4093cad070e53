public import AccessLog
internal import HTTPMessage

extension APIClient {
    /// The running sessions and the latest ended ones.
    public func sessions() async throws(APIError) -> [SessionSummary] {
        let list: API.SessionList = try await call("GET", "/sessions")
        return list.sessions
    }

    /// Sends a player's report on its playback.
    public func report(_ report: PlayerReport, of session: String) async throws(APIError) -> SessionSummary {
        let route = "/sessions/\(PercentEncoding.encode(session))/report"
        return try await call("PUT", route, body: try API.encode(report))
    }

    /// The access log.
    public func accessLog(_ query: LogQuery) async throws(APIError) -> API.Log<AccessEvent> {
        try await call("GET", "/log" + Self.text(query))
    }

    /// The error log.
    public func errorLog(_ query: LogQuery) async throws(APIError) -> API.Log<ErrorEvent> {
        try await call("GET", "/log/errors" + Self.text(query))
    }

    /// The key performance indicators.
    public func kpis(_ query: LogQuery) async throws(APIError) -> API.KPIReport {
        try await call("GET", "/kpis" + Self.text(query))
    }

    private static func text(_ query: LogQuery) -> String {
        let asset = query.asset.map { "&asset=" + PercentEncoding.encode($0) } ?? ""
        return "?limit=\(query.limit)" + asset + (query.since.map { "&since=\($0)" } ?? "")
    }
}
