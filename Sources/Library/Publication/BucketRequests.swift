import HTTPMessage
import Origin
import Store

/// Requests to an object store, each signed: the part of S3's API that a publication needs.
struct BucketRequests: Sendable {
    /// The bucket's top.
    let base: WebURL
    /// In front of all names: empty, or with a `/` at its end.
    let prefix: String
    /// The keys.
    let access: BucketAccess

    /// The field that holds an object's SHA-256, which S3 keeps with it.
    static let digestField = FieldName("x-amz-meta-sha256")
    /// A day: what stalls is noticed long before.
    private static let patience = Duration.seconds(86_400)
    private static let nothing = [UInt8]().withUnsafeBytes { Digest(of: $0) }

    /// ListObjectsV2; the names of the query stand in their order.
    func list(after token: String?) -> OriginRequest? {
        let more = token.map { "continuation-token=\(PercentEncoding.encode($0))&" } ?? ""
        return request(.get, "?\(more)list-type=2&prefix=\(PercentEncoding.encode(prefix))", Self.nothing)
    }

    /// GetObject.
    func get(_ path: String) -> OriginRequest? { request(.get, prefix + path, Self.nothing) }

    /// HeadObject.
    func head(_ path: String) -> OriginRequest? { request(.head, prefix + path, Self.nothing) }

    /// DeleteObject.
    func delete(_ path: String) -> OriginRequest? { request(.delete, prefix + path, Self.nothing) }

    /// PutObject, with the fields by which it is to be served.
    ///
    /// - Throws: `missing` for a piece that is gone.
    func put(_ item: ExportContents.Item) throws(StoreError) -> OriginRequest? {
        let fields = PublishedFields(item.path)
        guard
            var request = request(
                .put, prefix + item.path, item.digest,
                [
                    "Content-Type: \(fields.contentType)", "Cache-Control: \(fields.cacheControl)",
                    "\(Self.digestField): \(item.digest)",
                ])
        else { return nil }
        if case .text(let bytes) = item.source { request.body = bytes }
        if let file = try item.open() { request.file = OutgoingFile(taking: file, size: item.size) }
        return request
    }

    private func request(
        _ method: HTTPMethod, _ place: String, _ digest: Digest, _ lines: [String] = []
    ) -> OriginRequest? {
        guard let url = try? WebURL(base.text + place) else { return nil }
        var request = OriginRequest(url)
        request.method = method
        request.fields = (["x-amz-content-sha256: \(digest)"] + lines).compactMap { FieldLine(Array($0.utf8)) }
        request.signature = access.signature
        request.namedPeer = OriginRequest.Peer(of: url)
        request.priority = .background
        request.isRepeatable = true
        request.acceptsRefusals = true
        request.ignoresAbsence = true
        request.retries = RetryPolicy()
        request.deadline = Self.patience
        return request
    }
}
