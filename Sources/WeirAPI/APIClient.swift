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

        package init(method: String, url: String, token: String, body: [UInt8]?) {
            self.method = method
            self.url = url
            self.token = token
            self.body = body
        }

        /// A call of an endpoint of the daemon at the URL `base`.
        init(
            _ line: EndpointLine, _ items: [String] = [], query: String = "", base: String, token: String,
            body: [UInt8]? = nil
        ) {
            let url = base + API.root + line.path(with: items) + query
            self.init(method: line.method.rawValue, url: url, token: token, body: body)
            isLong = line.isLong
        }
    }

    /// The response to a call.
    package struct Answer: Sendable {
        package let status: Int
        package let body: [UInt8]

        package init(status: Int, body: [UInt8]) {
            self.status = status
            self.body = body
        }
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
        self.state = state
        self.delegate = delegate
        self.limit = limit
        self.transport = transport
        self.stream = stream
    }

    /// All assets, sorted by name; without tracks if `isBrief`, which saves most of the time. A shape with fewer keys than
    /// `API.Asset` decodes faster.
    package func assets<Shape: Decodable & Sendable>(
        as shape: Shape.Type = API.Asset.self, isBrief: Bool = false
    ) async throws(APIError) -> [Shape] {
        let limit = isBrief ? 1000 : 500
        var query = API.AssetQuery(limit: limit, isBrief: isBrief)

        // Decoding a page takes longer than fetching it, so each page is decoded while the next ones arrive.
        var pages: [Task<Result<Page<Shape>, APIError>, Never>] = []
        repeat {
            let body = try await answer(Endpoints.assets.line, [], query: query.text)
            pages.append(
                Task {
                    do throws(APIError) {
                        return .success(try Self.read(body))
                    } catch {
                        return .failure(error)
                    }
                })
            let end: PageEnd = try Self.read(body)
            query.after = end.next
        } while query.after != nil

        var assets: [Shape] = []
        for page in pages {
            assets += try await page.value.get().assets
        }
        return assets
    }

    private struct Page<Shape: Decodable & Sendable>: Decodable, Sendable {
        let assets: [Shape]
    }

    /// The part of an `API.AssetList` that names the next page.
    private struct PageEnd: Decodable {
        let next: String?
    }

    // MARK: Calls

    /// Calls an endpoint without a body. `items` are the values of its path's `{…}`.
    package func call<Reply: Decodable>(
        _ endpoint: Endpoint<API.Nothing, Reply>, _ items: String..., query: String = ""
    ) async throws(APIError) -> Reply {
        try Self.read(try await answer(endpoint.line, items, query: query))
    }

    /// Calls an endpoint with a JSON body.
    package func call<Request: Encodable, Reply: Decodable>(
        _ endpoint: Endpoint<Request, Reply>, _ items: String..., query: String = "", body: Request
    ) async throws(APIError) -> Reply {
        try Self.read(try await answer(endpoint.line, items, query: query, body: try API.encode(body)))
    }

    /// Calls an endpoint with an image as its body.
    package func call<Reply: Decodable>(
        _ endpoint: Endpoint<API.Bytes, Reply>, _ items: String..., body: [UInt8]
    ) async throws(APIError) -> Reply {
        try Self.read(try await answer(endpoint.line, items, body: body))
    }

    /// The stream of events, starting with a snapshot, until the daemon ends or the connection breaks.
    package func events() -> AsyncThrowingStream<API.Event, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    try await ensureDaemon()
                    var parser = EventTextParser()
                    for try await bytes in stream(try request(Endpoints.events.line)) {
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
        let answer = try await transport(Call(Endpoints.mode.line, base: base, token: ""))
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

    private func request(
        _ line: EndpointLine, _ items: [String] = [], query: String = "", body: [UInt8]? = nil
    ) throws(APIError) -> Call {
        guard let base = state.daemonURL else { throw state.absence }
        return Call(line, items, query: query, base: base, token: try state.token(), body: body)
    }

    private func answer(
        _ line: EndpointLine, _ items: [String], query: String = "", body: [UInt8]? = nil
    ) async throws(APIError) -> [UInt8] {
        let answer: Answer
        do throws(APIError) {
            answer = try await perform(line, items: items, query: query, body: body)
        } catch {
            guard error.code == .noDaemon, let delegate else { throw error }
            try await delegate.startDaemon(insteadOf: error)
            answer = try await perform(line, items: items, query: query, body: body)
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
        _ line: EndpointLine, items: [String], query: String, body: [UInt8]?
    ) async throws(APIError) -> Answer {
        var call = try request(line, items, query: query, body: body)
        call.limit = limit
        guard let delegate, limit == nil else { return try await transport(call) }
        let probe = try request(Endpoints.mode.line)
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
}
