/// A URL without the query parameters that sign it: two URLs that are equal in this form may have the same content.
package struct TokenlessURL: Hashable, Sendable {
    private let origin: WebURL.Origin
    private let path: String
    private let parameters: [String]

    /// Removes the parameters that are tokens by their names, and sorts the others.
    package init(_ url: WebURL) {
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
