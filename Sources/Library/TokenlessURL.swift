import HTTPMessage

/// A URL without its temporary or personal parts: two URLs that are equal in this form may lead to the same content.
///
/// Pure. Query parameters with the names that signing schemes use are left out. A parameter with another name
/// distinguishes content.
struct TokenlessURL: Hashable {
    private let origin: WebURL.Origin
    private let path: String
    private let parameters: [String]

    init(_ url: WebURL) {
        origin = url.origin
        path = url.path
        parameters = (url.query ?? "").split(separator: "&").map(String.init).filter { !Self.isToken($0) }.sorted()
    }

    private static func isToken(_ parameter: String) -> Bool {
        let name = parameter.prefix { $0 != "=" }.lowercased()
        return names.contains(name) || prefixes.contains(where: name.hasPrefix) || parts.contains(where: name.contains)
    }

    /// From CloudFront, Akamai, Fastly, Google, nginx's secure_link and others.
    private static let names: Set<String> = [
        "policy", "key-pair-id", "hdnts", "hdnea", "hdntl", "hash", "md5", "st", "e", "exp", "ttl", "nonce", "ts",
        "sid", "sig",
        "jwt", "verify", "validfrom", "validto", "urlprefix", "keyname", "acl",
    ]
    private static let prefixes = ["x-amz-", "x-goog-"]
    private static let parts = ["token", "signature", "auth", "hmac", "expire", "session", "nonce"]
}
