package import HTTPMessage
package import Origin
import Store

/// Makes signed requests to an object store: the part of S3's API that a publication needs.
struct BucketRequests: Sendable {
    let base: WebURL
    /// The prefix of all object names: empty, or with a `/` at its end.
    let prefix: String
    let access: BucketAccess

    /// The field for an object's SHA-256, which S3 stores as metadata.
    static let digestField = FieldName("x-amz-meta-sha256")
    /// One day: stalled transfers fail much earlier.
    private static let deadline = Duration.seconds(86_400)
    private static let nothing = [UInt8]().withUnsafeBytes { Digest(of: $0) }

    /// ListObjectsV2. The query's names are sorted, as the signature needs them.
    func list(after token: String?) -> OriginRequest? {
        var query = "list-type=2&prefix=\(PercentEncoding.encode(prefix))"
        if let token {
            query = "continuation-token=\(PercentEncoding.encode(token))&\(query)"
        }
        return request(.get, "?\(query)", digest: Self.nothing)
    }

    func get(_ path: String) -> OriginRequest? { request(.get, prefix + path, digest: Self.nothing) }

    func head(_ path: String) -> OriginRequest? { request(.head, prefix + path, digest: Self.nothing) }

    func delete(_ path: String) -> OriginRequest? { request(.delete, prefix + path, digest: Self.nothing) }

    /// - Throws: `missing` if the piece is not in the store any more.
    func put(_ item: ExportContents.Item) throws(StoreError) -> OriginRequest? {
        let fields = PublishedFields(item.path)
        guard
            var request = request(
                .put, prefix + item.path, digest: item.digest,
                lines: [
                    "Content-Type: \(fields.contentType)", "Cache-Control: \(fields.cacheControl)",
                    "\(Self.digestField): \(item.digest)",
                ])
        else { return nil }
        if case .text(let bytes) = item.source {
            request.body = bytes
        }
        if let file = try item.open() {
            request.file = OutgoingFile(taking: file, size: item.size)
        }
        return request
    }

    private func request(
        _ method: HTTPMethod, _ path: String, digest: Digest, lines: [String] = []
    ) -> OriginRequest? {
        guard let url = try? WebURL(base.text + path) else { return nil }
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
        request.deadline = Self.deadline
        return request
    }
}

/// The response fields with which a published file is served.
struct PublishedFields: Equatable {
    let contentType: String
    let cacheControl: String

    /// A piece never changes. A playlist changes when more of the asset is stored. Caches must not store keys.
    init(_ path: String) {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let type = name == Ledger.fileName ? .text : MediaType(forPath: path)
        contentType = type.description
        cacheControl =
            if path.hasPrefix("keys/") && name != Ledger.fileName {
                "no-store"
            } else if !path.contains("/") || name == Ledger.fileName || name.hasSuffix(".m3u8") {
                "public, max-age=10"
            } else {
                "public, max-age=31536000, immutable"
            }
    }
}

struct BucketRefusal {
    private let status: Int
    private let code: String
    private let sentence: String
    private let region: String?

    /// Reads a response. Without S3's XML, as in responses to HEAD, only the status is known.
    init(status: Int, _ body: [UInt8]) {
        var error = XMLElement(body)
        if error?.name != "Error" {
            error = nil
        }
        self.status = status
        code = error?.child("Code")?.text ?? ""
        sentence = error?.child("Message")?.text ?? ""
        region = error?.child("Region")?.text
    }

    /// Leaves the server's words out if they contain one of `secrets`.
    func error(_ what: String, hiding secrets: [String]) -> ExchangeError {
        var reason = code.isEmpty ? "status \(status)" : "\(code), \(status)"
        if !sentence.isEmpty, sentence.utf8.count <= 300 {
            reason += ": \(sentence)"
        }
        if secrets.contains(where: reason.contains) {
            reason = "status \(status)"
        }
        guard let region else { return ExchangeError(kind, "\(what) (\(reason))") }
        return ExchangeError(kind, "\(what), which is in the region \(region) (\(reason))")
    }

    private var kind: ExchangeError.Code {
        switch (status, code) {
        case (_, "XAmzContentSHA256Mismatch"), (_, "BadDigest"): .incomplete
        case (401, _), (403, _), (_, "ExpiredToken"), (_, "InvalidToken"): .refused
        case (_, "NoSuchBucket"), (_, "AuthorizationHeaderMalformed"), (_, "InvalidBucketName"), (300..<400, _):
            .badTarget
        default: .badAnswer
        }
    }
}

/// The address of an object store, and the keys for it.
package struct BucketAccess: Sendable {
    package let signature: RequestSignature
    /// The server, without its path; nil for AWS.
    package let endpoint: WebURL?

    package init(_ signature: RequestSignature, endpoint: WebURL? = nil) {
        self.signature = signature
        self.endpoint = endpoint
    }

    /// The URL of a bucket, with a `/` at its end; nil if the region is invalid. AWS requires the bucket's own host,
    /// but no certificate covers a name with dots: that goes into the path.
    func base(_ bucket: String) -> WebURL? {
        let region = signature.region.utf8
        guard !region.isEmpty, region.allSatisfy({ PublicationTarget.isSmall($0) || $0 == UInt8(ascii: "-") }) else {
            return nil
        }
        if let endpoint {
            return try? WebURL("\(endpoint.origin)/\(bucket)/")
        }
        let host = "s3.\(signature.region).amazonaws.com"
        // The server's certificate has no host name of several labels before its own.
        guard !bucket.contains(".") else { return try? WebURL("https://\(host)/\(bucket)/") }
        return try? WebURL("https://\(bucket).\(host)/")
    }
}
