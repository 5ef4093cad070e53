/// With what a request is signed, by AWS's Signature Version 4, which libcurl reckons.
///
/// The body's SHA-256 comes as the field `x-amz-content-sha256`, from who makes the request: libcurl would have to read
/// all of a file for it. libcurl 7.88 signs path and query as they are in the URL, so both have to be as AWS would
/// encode them, the query with its names in order. Such a request follows no redirect: the signature is for one host.
public struct RequestSignature: Sendable {
    /// Names the key.
    public var accessKey: String
    /// The key itself: goes nowhere.
    public var secretKey: String
    /// What comes with keys that hold for a while; nil for others.
    public var sessionToken: String?
    /// The region that the server is in, such as `eu-central-1`.
    public var region: String

    /// A signature for S3.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil, region: String) {
        (self.accessKey, self.secretKey) = (accessKey, secretKey)
        (self.sessionToken, self.region) = (sessionToken, region)
    }

    /// As CURLOPT_AWS_SIGV4 takes it.
    var scheme: String { "aws:amz:\(region):s3" }
}

extension RequestSignature: CustomStringConvertible, CustomReflectable {
    /// Without its secrets.
    public var description: String { "a signature for \(region)" }
    /// The same.
    public var customMirror: Mirror { Mirror(reflecting: description) }
}
