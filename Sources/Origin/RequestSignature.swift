/// Keys for AWS Signature Version 4, which libcurl computes.
///
/// The caller sets the body's SHA-256 as the field `x-amz-content-sha256`; libcurl would have to read the whole file
/// for it. libcurl 7.88 signs path and query as they are in the URL, so both must be encoded as AWS does, with the
/// query sorted by name. A signed request follows no redirect, because the signature is for one host.
public struct RequestSignature: Sendable {
    /// The key's id.
    public var accessKey: String
    /// The secret key. Never sent.
    public var secretKey: String
    /// The token of temporary keys; nil for others.
    public var sessionToken: String?
    /// The server's region, such as `eu-central-1`.
    public var region: String

    /// Creates keys for S3.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil, region: String) {
        (self.accessKey, self.secretKey) = (accessKey, secretKey)
        (self.sessionToken, self.region) = (sessionToken, region)
    }

    /// The value of CURLOPT_AWS_SIGV4.
    var scheme: String { "aws:amz:\(region):s3" }
}

extension RequestSignature: CustomStringConvertible, CustomReflectable {
    /// The region only, without secrets.
    public var description: String { "a signature for \(region)" }
    /// The region only, without secrets.
    public var customMirror: Mirror { Mirror(reflecting: description) }
}
