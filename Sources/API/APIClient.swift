package import AccessLog
import HTTPMessage

/// Acts for a client whose daemon does not answer.
package protocol APIClientDelegate: Sendable {
    /// Returns when a daemon answers. Throws `error`, or a better one, if none can be started.
    func startDaemon(insteadOf error: APIError) async throws(APIError)

    /// Reports that the daemon has not answered for three seconds. The client goes on waiting.
    func daemonHangs(process: Int32?)
}

/// A client of the API: finds the daemon by its state directory, and converts every failure to an `APIError`.
package struct APIClient: Sendable {
    /// A call: a request line, and optionally a body.
    package struct Call: Sendable {
        /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
        package let method: String
        package let url: String
        package let token: String
        /// The JSON body; nil for none.
        package let body: [UInt8]?
        /// True if the call has no deadline, because its duration cannot be known.
        package var isLong = false
        /// Time limit; nil for the usual one.
        package var limit: Duration?
    }

    /// The response to a call.
    package struct Answer: Sendable {
        package let status: Int
        package let body: [UInt8]

        package init(status: Int, body: [UInt8]) { (self.status, self.body) = (status, body) }
    }

    /// Performs a call. Throws `.noDaemon` if there is no server.
    package typealias Transport = @Sendable (Call) async throws(APIError) -> Answer

    /// Performs a call and streams the body. Ends with an `APIError` for an error response or a broken stream.
    package typealias Stream = @Sendable (Call) -> AsyncThrowingStream<[UInt8], any Error>

    package let state: StateDirectory
    private let delegate: (any APIClientDelegate)?
    private let limit: Duration?
    private let transport: Transport
    private let stream: Stream

    /// Creates a client of the daemon with this state directory.
    ///
    /// - Parameters:
    ///   - delegate: acts if no daemon answers.
    ///   - limit: time limit of each call; nil for the usual one.
    package init(
        state: StateDirectory, delegate: (any APIClientDelegate)? = nil, limit: Duration? = nil,
        transport: @escaping Transport, stream: @escaping Stream = { _ in .init { $0.finish() } }
    ) {
        (self.state, self.delegate, self.limit, self.transport, self.stream) = (
            state, delegate, limit, transport, stream
        )
    }

    /// All assets, sorted by name; without tracks if `isBrief`, which saves most of the time. A shape with fewer keys than
    /// `API.Asset` decodes faster.
    package func assets<Shape: Decodable & Sendable>(
        as shape: Shape.Type = API.Asset.self, isBrief: Bool = false
    ) async throws(APIError) -> [Shape] {
        var query = API.AssetQuery(limit: isBrief ? 1000 : 500, isBrief: isBrief)
        // Decoding a page takes longer than fetching it, so each page is decoded while the next ones arrive.
        var pages: [Task<Result<Page<Shape>, APIError>, Never>] = []
        repeat {
            let body = try await answer("GET", "/assets" + query.text)
            pages.append(
                Task {
                    do throws(APIError) { return .success(try Self.read(body)) } catch { return .failure(error) }
                })
            let end: PageEnd = try Self.read(body)
            query.after = end.next
        } while query.after != nil
        var assets: [Shape] = []
        for page in pages { assets += try await page.value.get().assets }
        return assets
    }

    private struct Page<Shape: Decodable & Sendable>: Decodable, Sendable {
        let assets: [Shape]
    }

    /// The part of an `API.AssetList` that names the next page.
    private struct PageEnd: Decodable {
        let next: String?
    }

    package func list(_ query: API.AssetQuery) async throws(APIError) -> API.AssetList {
        try await call("GET", "/assets" + query.text)
    }

    package func asset(named name: String) async throws(APIError) -> API.Asset {
        try await call("GET", "/assets/" + PercentEncoding.encode(name))
    }

    /// Fetches the beginning of an asset into the play cache.
    package func cache(_ request: API.CacheRequest, ofAsset name: String) async throws(APIError) -> API.Asset {
        let route = "/assets/\(PercentEncoding.encode(name))/cache"
        return try await call("POST", route, body: try API.encode(request), isLong: true)
    }

    /// Looks for other content at the asset's origin, and starts to fetch it.
    package func update(assetNamed name: String) async throws(APIError) -> API.Asset {
        try await call("POST", "/assets/\(PercentEncoding.encode(name))/update", isLong: true)
    }

    /// Attaches a file to an asset as a track.
    package func attach(_ request: API.AttachRequest, toAsset name: String) async throws(APIError) -> API.Attachment {
        let route = "/assets/\(PercentEncoding.encode(name))/tracks"
        return try await call("POST", route, body: try API.encode(request), isLong: true)
    }

    /// Removes an attached track.
    package func detach(_ id: String, fromAsset name: String) async throws(APIError) -> API.Detachment {
        try await call("DELETE", "/assets/\(PercentEncoding.encode(name))/tracks/\(PercentEncoding.encode(id))")
    }

    package func removeAsset(named name: String) async throws(APIError) -> API.Removal {
        try await call("DELETE", "/assets/" + PercentEncoding.encode(name))
    }

    package func setPolicy(_ policy: API.Policy, ofAsset name: String) async throws(APIError) -> API.Asset {
        try await call("PUT", "/assets/\(PercentEncoding.encode(name))/policy", body: try API.encode(policy))
    }

    package func change(_ change: API.AssetChange, ofAsset name: String) async throws(APIError) -> API.Asset {
        try await call("PATCH", "/assets/" + PercentEncoding.encode(name), body: try API.encode(change))
    }

    package func setArtwork(_ bytes: [UInt8], ofAsset name: String) async throws(APIError) -> API.Asset {
        try await call("PUT", "/assets/\(PercentEncoding.encode(name))/artwork", body: bytes)
    }

    /// Exports an asset to a path outside the store; returns at the end.
    package func export(_ request: API.ExportRequest, ofAsset name: String) async throws(APIError) -> API.Export {
        try await call(
            "POST", "/assets/\(PercentEncoding.encode(name))/export", body: try API.encode(request), isLong: true)
    }

    /// Imports a folder as an asset; returns at the end.
    package func importAsset(_ request: API.ImportRequest) async throws(APIError) -> API.Asset {
        try await call("POST", "/assets", body: try API.encode(request), isLong: true)
    }

    package func mode() async throws(APIError) -> API.Mode { try await call("GET", "/mode") }

    /// Totals of the store and its disk.
    package func store() async throws(APIError) -> API.Store { try await call("GET", "/store") }

    package func change(to mode: API.Mode) async throws(APIError) -> API.Mode {
        try await call("PUT", "/mode", body: try API.encode(mode))
    }

    /// The daemon's address on the network. Throws `.noLAN` if it is not reachable from the network.
    package func lan() async throws(APIError) -> API.LAN { try await call("GET", "/lan") }

    package func page() async throws(APIError) -> API.PageLink { try await call("GET", "/page") }

    /// Ends the page's link, and returns the new one.
    package func renewPage() async throws(APIError) -> API.PageLink { try await call("DELETE", "/page") }

    /// The presentation at an origin URL.
    package func inspect(url: String) async throws(APIError) -> API.Presentation {
        try await call("GET", "/presentation?url=" + PercentEncoding.encode(url))
    }

    /// Opens the asset of a URL or a name for players, with header fields and cookies for its origin.
    package func open(_ request: API.PresentationRequest) async throws(APIError) -> API.Presentation {
        try await call("POST", "/presentation", body: try API.encode(request))
    }

    /// Adds streams to the daemon's streams file. At most 4 MB in JSON.
    package func add(_ streams: [API.Stream]) async throws(APIError) -> API.StreamReport {
        try await call("POST", "/streams", body: try API.encode(API.StreamRequest(streams: streams)))
    }

    /// The tracks that a request would select, with reasons; starts no download.
    package func explain(_ request: API.DownloadRequest) async throws(APIError) -> API.Presentation {
        try await call("POST", "/selection", body: try API.encode(request))
    }

    package func download(_ request: API.DownloadRequest) async throws(APIError) -> API.Download {
        try await call("POST", "/downloads", body: try API.encode(request))
    }

    package func download(id: String) async throws(APIError) -> API.Download {
        try await call("GET", "/downloads/" + PercentEncoding.encode(id))
    }

    /// All downloads in the order of the requests.
    package func downloads() async throws(APIError) -> [API.Download] {
        let list: API.DownloadList = try await call("GET", "/downloads")
        return list.downloads
    }

    /// Pauses, resumes or cancels a download, and returns its new state. `request` is for `resume`.
    package func change(
        _ change: API.DownloadChange, id: String, _ request: API.ResumeRequest? = nil
    ) async throws(APIError) -> API.Download {
        let route = "/downloads/\(PercentEncoding.encode(id))/\(change.rawValue)"
        return try await call("POST", route, body: try API.encode(request ?? API.ResumeRequest()))
    }

    /// The stream of events, starting with a snapshot, until the daemon ends or the connection breaks.
    package func events() -> AsyncThrowingStream<API.Event, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    try await ensureDaemon()
                    var parser = EventTextParser()
                    for try await bytes in stream(try request("GET", "/events")) {
                        for message in parser.parse(bytes) {
                            if let event = try API.Event(name: message.name, data: Array(message.data.utf8)) {
                                continuation.yield(event)
                            }
                        }
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Returns if any user's daemon answers at a base URL: its API demands a token. Throws `.noDaemon` otherwise.
    package func findDaemon(at base: String) async throws(APIError) {
        // Port 0 of the configuration is no address before a daemon has taken a port.
        guard (try? WebURL(base)) != nil else { throw state.absence }
        let answer = try await transport(Call(method: "GET", url: base + API.root + "/mode", token: "", body: nil))
        let problem = try? API.decode(API.Problem.self, from: answer.body)
        guard answer.status == 401, problem?.code == .unauthorized else {
            throw APIError(.noDaemon, "the program at \(base) is not Weir")
        }
    }

    /// The metrics of the daemon at a URL, as text. They need no token.
    package func metrics(at base: String) async throws(APIError) -> String {
        let answer = try await transport(Call(method: "GET", url: base + "/metrics", token: "", body: nil))
        guard answer.status == 200 else { throw Self.error(answer) }
        return String(decoding: answer.body, as: UTF8.self)
    }

    private func request(_ method: String, _ route: String, body: [UInt8]? = nil) throws(APIError) -> Call {
        guard let base = state.daemonURL else { throw state.absence }
        return Call(method: method, url: base + API.root + route, token: try state.token(), body: body)
    }

    func call<Shape: Decodable>(
        _ method: String, _ route: String, body: [UInt8]? = nil, isLong: Bool = false
    ) async throws(APIError) -> Shape {
        try Self.read(try await answer(method, route, body: body, isLong: isLong))
    }

    private func answer(
        _ method: String, _ route: String, body: [UInt8]? = nil, isLong: Bool = false
    ) async throws(APIError) -> [UInt8] {
        let answer: Answer
        do throws(APIError) {
            answer = try await perform(method, route, body, isLong: isLong)
        } catch {
            guard error.code == .noDaemon, let delegate else { throw error }
            try await delegate.startDaemon(insteadOf: error)
            answer = try await perform(method, route, body, isLong: isLong)
        }
        guard (200..<300).contains(answer.status) else { throw Self.error(answer) }
        return answer.body
    }

    /// Makes the delegate start a daemon if none runs.
    package func ensureDaemon() async throws(APIError) {
        guard let delegate, !state.isServed else { return }
        let absence = state.absence
        guard absence.code == .noDaemon else { throw absence }
        try await delegate.startDaemon(insteadOf: absence)
    }

    private func perform(
        _ method: String, _ route: String, _ body: [UInt8]?, isLong: Bool
    ) async throws(APIError) -> Answer {
        var call = try request(method, route, body: body)
        (call.isLong, call.limit) = (isLong, limit)
        guard let delegate, limit == nil else { return try await transport(call) }
        let probe = try request("GET", "/mode")
        let watch = Task {
            try? await Task.sleep(for: Self.silenceLimit - Self.probeLimit)
            guard !Task.isCancelled, await !answers(probe), !Task.isCancelled else { return }
            delegate.daemonHangs(process: state.daemonProcess)
        }
        defer { watch.cancel() }
        return try await transport(call)
    }

    /// Time without an answer after which the delegate is told, unless the daemon answers another call meanwhile: then it waits
    /// for an origin or a disk.
    private static let silenceLimit = Duration.seconds(3)
    private static let probeLimit = Duration.seconds(1)

    private func answers(_ probe: Call) async -> Bool {
        var probe = probe
        probe.limit = Self.probeLimit
        return (try? await transport(probe)) != nil
    }

    private static func read<Shape: Decodable>(_ body: [UInt8]) throws(APIError) -> Shape {
        do {
            return try API.decode(from: body)
        } catch {
            throw APIError(.internal, "the daemon's response is invalid: \(error.message)", underlying: error)
        }
    }

    /// Converts a problem response. Any other response did not come from Weir.
    private static func error(_ answer: Answer) -> APIError {
        guard let problem = try? API.decode(API.Problem.self, from: answer.body) else {
            return APIError(.internal, "the daemon answered with status \(answer.status) and no reason")
        }
        return APIError(problem.code, problem.detail, next: problem.next)
    }
    /// Starts a job on an asset, or attaches to a running one.
    package func begin<Job: API.Job>(
        _ job: Job.Type = Job.self, _ request: Job.Request, ofAsset name: String
    ) async throws(APIError) -> Job {
        try await call("POST", Self.route(job, name), body: try API.encode(request))
    }

    package func job<Job: API.Job>(_ job: Job.Type = Job.self, ofAsset name: String) async throws(APIError) -> Job {
        try await call("GET", Self.route(job, name))
    }

    package func cancel<Job: API.Job>(_ job: Job.Type = Job.self, ofAsset name: String) async throws(APIError) -> Job {
        try await call("DELETE", Self.route(job, name))
    }

    private static func route<Job: API.Job>(_ job: Job.Type, _ name: String) -> String {
        "/assets/\(PercentEncoding.encode(name))/\(job.kind.rawValue)"
    }
    /// The state of an asset's keys, without key material.
    package func keys(ofAsset name: String) async throws(APIError) -> API.KeyList {
        try await call("GET", Self.route(keysOf: name))
    }

    package func order(_ order: API.KeyOrder, ofAsset name: String) async throws(APIError) -> API.KeyList {
        try await call("POST", Self.route(keysOf: name), body: try API.encode(order), isLong: order.action == .renew)
    }

    package func revokeAllKeys() async throws(APIError) -> [API.KeyList] {
        let lists: API.KeyLists = try await call("POST", "/keys", body: try API.encode(API.KeyOrder(.revoke)))
        return lists.assets
    }

    /// The keys of all assets that have any.
    package func allKeys() async throws(APIError) -> [API.KeyList] {
        let lists: API.KeyLists = try await call("GET", "/keys")
        return lists.assets
    }

    private static func route(keysOf name: String) -> String { "/assets/\(PercentEncoding.encode(name))/keys" }
    package func sessions() async throws(APIError) -> [SessionSummary] {
        let list: API.SessionList = try await call("GET", "/sessions")
        return list.sessions
    }

    package func report(_ report: PlayerReport, of session: String) async throws(APIError) -> SessionSummary {
        let route = "/sessions/\(PercentEncoding.encode(session))/report"
        return try await call("PUT", route, body: try API.encode(report))
    }

    package func accessLog(_ query: LogQuery) async throws(APIError) -> API.Log<AccessEvent> {
        try await call("GET", "/log" + Self.text(query))
    }

    package func errorLog(_ query: LogQuery) async throws(APIError) -> API.Log<ErrorEvent> {
        try await call("GET", "/log/errors" + Self.text(query))
    }

    package func timelines(_ query: LogQuery) async throws(APIError) -> API.Log<SessionTimeline> {
        try await call("GET", "/log/sessions" + Self.text(query))
    }

    package func kpis(_ query: LogQuery) async throws(APIError) -> API.KPIReport {
        try await call("GET", "/kpis" + Self.text(query))
    }

    private static func text(_ query: LogQuery) -> String {
        let asset = query.asset.map { "&asset=" + PercentEncoding.encode($0) } ?? ""
        let session = query.session.map { "&session=" + PercentEncoding.encode($0) } ?? ""
        return "?limit=\(query.limit)" + asset + session + (query.since.map { "&since=\($0)" } ?? "")
    }
}
