import EventLoop
import HTTPMessage

extension ControlRoutes {
    /// Answers a request about the verification of an asset.
    func verification(_ request: ControlRequest, of name: String) async throws(ControlError) -> ControlResponse {
        guard let verifications else { throw ControlError(.noSuchRoute, "the API has no \(request.path)") }
        switch request.method {
        case .post:
            let wish = request.body.isEmpty ? API.VerificationRequest() : try Self.body(request)
            let verification = try await verifications.verify(assetNamed: name, wish)
            return ControlResponse(status: .accepted, body: try API.encode(verification))
        case .delete: return try ok(try await verifications.cancelVerification(ofAsset: name))
        default: return try ok(try await verifications.verification(ofAsset: name))
        }
    }
}

extension ControlClient {
    /// Begins to verify an asset, or attaches to who does.
    public func verify(
        assetNamed name: String, _ request: API.VerificationRequest
    ) async throws(ControlError) -> API.Verification {
        try await call("POST", Self.route(name), body: try API.encode(request))
    }

    /// How the last verification of an asset stands.
    public func verification(ofAsset name: String) async throws(ControlError) -> API.Verification {
        try await call("GET", Self.route(name))
    }

    /// Gives a verification up.
    public func cancelVerification(ofAsset name: String) async throws(ControlError) -> API.Verification {
        try await call("DELETE", Self.route(name))
    }

    private static func route(_ name: String) -> String { "/assets/\(PercentEncoding.encode(name))/verification" }
}
