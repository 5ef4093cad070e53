import HTTPMessage

/// A client of the API for commands: finds the daemon by its state directory, calls it, and converts every failure to
/// an `APIError` with an exit code.
public struct APIClient: Sendable {
    /// A call: a request line, and optionally a body.
    public struct Call: Sendable {
        /// `GET`, `POST`, `PUT`, `PATCH` or `DELETE`.
        public let method: String
        /// The complete URL.
        public let url: String
        /// The token for the Authorization field; empty for none.
        public let token: String
        /// The JSON body; nil for none.
        public let body: [UInt8]?
        /// True if the call has no deadline, because its duration cannot be known.
        public var isLong = false
    }

    /// The response to a call.
    public struct Answer: Sendable {
        /// The HTTP status.
        public let status: Int
        /// The complete body.
        public let body: [UInt8]

        /// Creates a response.
        public init(status: Int, body: [UInt8]) {
            self.status = status
            self.body = body
        }
    }

    /// Performs a call. Throws `.noDaemon` if there is no server.
    public typealias Transport = @Sendable (Call) async throws(APIError) -> Answer

    /// Performs a call and streams the response's body. Ends with an `APIError` if the response is an error or breaks
    /// off.
    public typealias Stream = @Sendable (Call) -> AsyncThrowingStream<[UInt8], any Error>

    /// The state directory by which the daemon is found.
    public let state: StateDirectory
    private let transport: Transport
    private let stream: Stream

    /// Creates a client of the daemon with this state directory.
    public init(
        state: StateDirectory, transport: @escaping Transport, stream: @escaping Stream = { _ in .init { $0.finish() } }
    ) {
        self.state = state
        self.transport = transport
        self.stream = stream
    }

    /// All assets, sorted by name.
    ///
    /// - Parameter isBrief: True to leave tracks empty, and `storage` out if it has no information, which saves most of
    ///   the time.
    ///   most of the time.
    public func assets(isBrief: Bool = false) async throws(APIError) -> [API.Asset] {
        try await assets(as: API.Asset.self, isBrief: isBrief)
    }

    /// All assets, sorted by name, in a shape with fewer keys than `API.Asset`. Fewer keys decode faster.
    public func assets<Shape: Decodable & Sendable>(
        as shape: Shape.Type, isBrief: Bool
    ) async throws(APIError) -> [Shape] {
        var wish = API.ListWish(limit: isBrief ? 1000 : 500, isBrief: isBrief)
        // Decoding a page takes longer than fetching it, so each page is decoded while the next ones arrive.
        var pages: [Task<Result<Page<Shape>, APIError>, Never>] = []
        repeat {
            let body = try await answer("GET", "/assets" + wish.query)
            pages.append(
                Task {
                    do throws(APIError) { return .success(try Self.read(body)) } catch { return .failure(error) }
                })
            let end: PageEnd = try Self.read(body)
            wish.after = end.next
        } while wish.after != nil
        var assets: [Shape] = []
        for page in pages { assets += try await page.value.get().assets }
        return assets
    }

    /// A page of an `API.AssetList`.
    private struct Page<Shape: Decodable & Sendable>: Decodable, Sendable {
        let assets: [Shape]
    }

    /// The part of an `API.AssetList` that names the next page.
    private struct PageEnd: Decodable {
        let next: String?
    }

    /// One page of assets.
    public func list(_ wish: API.ListWish) async throws(APIError) -> API.AssetList {
        try await call("GET", "/assets" + wish.query)
    }

    /// One asset.
    public func asset(named name: String) async throws(APIError) -> API.Asset {
        try await call("GET", "/assets/" + PercentEncoding.encode(name))
    }

    /// Deletes an asset.
    public func removeAsset(named name: String) async throws(APIError) -> API.Removal {
        try await call("DELETE", "/assets/" + PercentEncoding.encode(name))
    }

    /// Replaces the policy of an asset.
    public func setPolicy(_ policy: API.Policy, ofAsset name: String) async throws(APIError) -> API.Asset {
        try await call("PUT", "/assets/\(PercentEncoding.encode(name))/policy", body: try API.encode(policy))
    }

    /// Renames an asset, or changes its title.
    public func change(_ change: API.AssetChange, ofAsset name: String) async throws(APIError) -> API.Asset {
        try await call("PATCH", "/assets/" + PercentEncoding.encode(name), body: try API.encode(change))
    }

    /// Stores an image with an asset.
    public func keepArtwork(_ bytes: [UInt8], ofAsset name: String) async throws(APIError) -> API.Asset {
        try await call("PUT", "/assets/\(PercentEncoding.encode(name))/artwork", body: bytes)
    }

    /// Exports an asset to a path outside the store; returns at the end.
    public func export(_ request: API.ExportRequest, ofAsset name: String) async throws(APIError) -> API.Export {
        try await call(
            "POST", "/assets/\(PercentEncoding.encode(name))/export", body: try API.encode(request), isLong: true)
    }

    /// Imports a folder as an asset; returns at the end.
    public func importAsset(_ request: API.ImportRequest) async throws(APIError) -> API.Asset {
        try await call("POST", "/assets", body: try API.encode(request), isLong: true)
    }

    /// The network mode.
    public func mode() async throws(APIError) -> API.Mode { try await call("GET", "/mode") }

    /// Changes the network mode.
    public func change(to mode: API.Mode) async throws(APIError) -> API.Mode {
        try await call("PUT", "/mode", body: try API.encode(mode))
    }

    /// The link to the page, with its key.
    public func page() async throws(APIError) -> API.PageLink { try await call("GET", "/page") }

    /// The presentation at an origin URL.
    public func inspect(url: String) async throws(APIError) -> API.Presentation {
        try await call("GET", "/presentation?url=" + PercentEncoding.encode(url))
    }

    /// The tracks that a request would select, with reasons; starts no download.
    public func explain(_ request: API.DownloadRequest) async throws(APIError) -> API.Presentation {
        try await call("POST", "/selection", body: try API.encode(request))
    }

    /// Starts a download, or attaches to a running one.
    public func download(_ request: API.DownloadRequest) async throws(APIError) -> API.Download {
        try await call("POST", "/downloads", body: try API.encode(request))
    }

    /// The state of a download.
    public func download(id: String) async throws(APIError) -> API.Download {
        try await call("GET", "/downloads/" + PercentEncoding.encode(id))
    }

    /// All downloads in the order of the requests.
    public func downloads() async throws(APIError) -> [API.Download] {
        let list: API.DownloadList = try await call("GET", "/downloads")
        return list.downloads
    }

    /// Pauses, resumes or cancels a download, and returns its new state.
    ///
    /// - Parameter request: for `resume`, a new URL or header fields of the asset.
    public func change(
        _ change: API.DownloadChange, id: String, _ request: API.ResumeRequest = API.ResumeRequest()
    ) async throws(APIError) -> API.Download {
        let route = "/downloads/\(PercentEncoding.encode(id))/\(change.rawValue)"
        return try await call("POST", route, body: try API.encode(request))
    }

    /// The stream of events, starting with a snapshot, until the daemon ends or the connection breaks.
    public func events() -> AsyncThrowingStream<API.Event, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    var parser = EventTextParser()
                    for try await bytes in stream(try request("GET", "/events")) {
                        for message in parser.take(bytes) {
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

    /// Returns if any user's daemon answers at a base URL: its API demands a token.
    ///
    /// - Throws: `APIError` with `.noDaemon` if there is no server, or another kind of server.
    public func findDaemon(at base: String) async throws(APIError) {
        let answer = try await transport(Call(method: "GET", url: base + API.root + "/mode", token: "", body: nil))
        let problem = try? API.decode(API.Problem.self, from: answer.body)
        guard answer.status == 401, problem?.code == .unauthorized else {
            throw APIError(.noDaemon, "what answers at \(base) is not Weir")
        }
    }

    private func request(_ method: String, _ route: String, body: [UInt8]? = nil) throws(APIError) -> Call {
        guard let base = state.daemonURL else { throw state.absence }
        return Call(method: method, url: base + API.root + route, token: try state.token(), body: body)
    }

    /// Calls a route and decodes the response.
    func call<Shape: Decodable>(
        _ method: String, _ route: String, body: [UInt8]? = nil, isLong: Bool = false
    ) async throws(APIError) -> Shape {
        try Self.read(try await answer(method, route, body: body, isLong: isLong))
    }

    /// Calls a route and returns the response's body.
    private func answer(
        _ method: String, _ route: String, body: [UInt8]? = nil, isLong: Bool = false
    ) async throws(APIError) -> [UInt8] {
        var request = try request(method, route, body: body)
        request.isLong = isLong
        let answer = try await transport(request)
        guard (200..<300).contains(answer.status) else { throw Self.error(answer) }
        return answer.body
    }

    private static func read<Shape: Decodable>(_ body: [UInt8]) throws(APIError) -> Shape {
        do {
            return try API.decode(from: body)
        } catch {
            throw APIError(.internal, "the daemon's answer is not understood: \(error.message)", underlying: error)
        }
    }

    /// Converts a problem response. Any other response did not come from Weir.
    private static func error(_ answer: Answer) -> APIError {
        guard let problem = try? API.decode(API.Problem.self, from: answer.body) else {
            return APIError(.internal, "the daemon answers with status \(answer.status) and no reason")
        }
        return APIError(problem.code, problem.detail, next: problem.next)
    }
}
