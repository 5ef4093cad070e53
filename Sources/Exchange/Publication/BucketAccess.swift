public import HTTPMessage
public import Origin

/// The address of an object store, and the keys for it.
public struct BucketAccess: Sendable {
    /// Signs the requests.
    public let signature: RequestSignature
    /// The server, without its path; nil for AWS.
    public let endpoint: WebURL?

    /// Makes an access.
    public init(_ signature: RequestSignature, endpoint: WebURL? = nil) {
        (self.signature, self.endpoint) = (signature, endpoint)
    }

    /// The URL of a bucket, with a `/` at its end; nil if the region is not a valid name.
    ///
    /// AWS requires the bucket's own host. A name with dots, which no certificate covers, goes into the path, and so do
    /// buckets on other servers.
    func base(_ bucket: String) -> WebURL? {
        let isRegion =
            !signature.region.isEmpty
            && signature.region.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
        guard isRegion else { return nil }
        if let endpoint { return try? WebURL("\(endpoint.origin)/\(bucket)/") }
        let host = "s3.\(signature.region).amazonaws.com"
        return try? WebURL(bucket.contains(".") ? "https://\(host)/\(bucket)/" : "https://\(bucket).\(host)/")
    }
}
