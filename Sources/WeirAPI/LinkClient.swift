/// A client of a link conditioner (`tools/link`), for `weir link`. The daemon knows nothing of it; its calls and errors are those of
/// the client of the API.
package struct LinkClient: Sendable {
    /// The control URL: `http://127.0.0.1:PORT`.
    private let base: String
    private let transport: APIClient.Transport

    /// Creates a client of the conditioner at the URL that `tools/link` prints. Throws `.badRequest` for any other URL;
    /// only loopback URLs are accepted, because calls have no token.
    package init(control: String, transport: @escaping APIClient.Transport) throws(APIError) {
        var base = control
        for end in ["/", Self.path] where base.hasSuffix(end) {
            base.removeLast(end.count)
        }
        let isLoopback = ["http://127.", "http://localhost:"].contains { base.hasPrefix($0) }
        guard isLoopback, base.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 2 else {
            throw APIError(
                .badRequest, "\(control) is not the control URL of a link conditioner",
                next: "give the URL that tools/link prints, such as http://127.0.0.1:40000/_link")
        }
        self.base = base
        self.transport = transport
    }

    /// Creates a client of the most recent conditioner. Throws `.noLink` if none runs.
    package init(state: StateDirectory, transport: @escaping APIClient.Transport) throws(APIError) {
        guard let url = state.linkURL else {
            throw APIError(.noLink, "no link conditioner runs with the state directory \(state.path)")
        }
        try self.init(control: url, transport: transport)
    }

    package func state() async throws(APIError) -> LinkState { try await call("GET", body: nil) }

    /// Changes the link, also for open connections. Throws `.badRequest` for invalid figures.
    package func change(_ change: LinkChange) async throws(APIError) -> LinkState {
        try await call("POST", body: try API.encode(change))
    }

    private static let path = "/_link"

    /// The conditioner's error response.
    private struct Refusal: Decodable {
        let error: String
    }

    private func call(_ method: String, body: [UInt8]?) async throws(APIError) -> LinkState {
        let url = base + Self.path
        let answer = try await answer(to: APIClient.Call(method: method, url: url, token: "", body: body))
        guard answer.status == 200 else {
            let refusal = try? API.decode(Refusal.self, from: answer.body)
            let code: APIError.Code = answer.status == 400 ? .badRequest : .internal
            let reason = refusal?.error ?? "the link conditioner answered with status \(answer.status) and no reason"
            throw APIError(code, reason, next: "weir link list")
        }
        do {
            return try API.decode(from: answer.body)
        } catch {
            throw APIError(.internal, "the link conditioner's response is invalid: \(error.message)", underlying: error)
        }
    }

    /// Performs a call. Converts `.noDaemon`, because the missing peer is a conditioner.
    private func answer(to call: APIClient.Call) async throws(APIError) -> APIClient.Answer {
        do {
            return try await transport(call)
        } catch {
            guard error.code == .noDaemon else { throw error }
            throw APIError(.noLink, error.message, underlying: error)
        }
    }
}

extension LinkClient {
    /// Creates a client over HTTP: of the conditioner at `control`, or else of the most recent one.
    package init(control: String?, state: StateDirectory) throws(APIError) {
        let transport = OriginTransport(to: "link conditioner")
        let perform: APIClient.Transport = { call throws(APIError) in try await transport.perform(call) }
        if let control {
            try self.init(control: control, transport: perform)
        } else {
            try self.init(state: state, transport: perform)
        }
    }
}
