public import HTTPMessage
public import Origin

/// How an object store is asked: where it is, and with whose keys.
public struct BucketAccess: Sendable {
    /// With what requests are signed.
    public let signature: RequestSignature
    /// The server, for one that is not AWS's; its path is not used. nil for AWS.
    public let endpoint: WebURL?

    /// An access.
    public init(_ signature: RequestSignature, endpoint: WebURL? = nil) {
        (self.signature, self.endpoint) = (signature, endpoint)
    }

    /// The URL of a bucket's top, with a `/` at its end; nil where the region is no name.
    ///
    /// By the bucket's own host at AWS, which asks for that. A name with dots in it, which no certificate covers, and
    /// other servers have it in the path.
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
