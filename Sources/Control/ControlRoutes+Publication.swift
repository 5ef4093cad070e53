import EventLoop
import HTTPMessage

extension ControlRoutes {
    /// Answers a request about the publication of an asset.
    func publication(_ request: ControlRequest, of name: String) async throws(ControlError) -> ControlResponse {
        guard let publications else { throw ControlError(.noSuchRoute, "the API has no \(request.path)") }
        switch request.method {
        case .post:
            let publication = try await publications.publish(assetNamed: name, try Self.body(request))
            return ControlResponse(status: .accepted, body: try API.encode(publication))
        case .delete: return try ok(try await publications.cancelPublication(ofAsset: name))
        default: return try ok(try await publications.publication(ofAsset: name))
        }
    }
}

extension ControlClient {
    /// Begins to publish an asset, or attaches to who does.
    public func publish(
        assetNamed name: String, _ request: API.PublicationRequest
    ) async throws(ControlError) -> API.Publication {
        try await call("POST", Self.publicationRoute(name), body: try API.encode(request))
    }

    /// How the last publication of an asset stands.
    public func publication(ofAsset name: String) async throws(ControlError) -> API.Publication {
        try await call("GET", Self.publicationRoute(name))
    }

    /// Gives a publication up.
    public func cancelPublication(ofAsset name: String) async throws(ControlError) -> API.Publication {
        try await call("DELETE", Self.publicationRoute(name))
    }

    private static func publicationRoute(_ name: String) -> String {
        "/assets/\(PercentEncoding.encode(name))/publication"
    }
}
