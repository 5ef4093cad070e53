/// A URL without the query parameters that sign it, and with a mark in place of parts of its path that look like tokens: two
/// URLs that are equal in this form may have the same content.
package struct TokenlessURL: Hashable, Sendable {
    private let origin: WebURL.Origin
    private let path: [Substring]
    private let parameters: [String]

    /// Removes the tokens, by their names or looks, and sorts the parameters.
    package init(_ url: WebURL) {
        origin = url.origin
        path = url.path.split(separator: "/", omittingEmptySubsequences: false).map(Self.withoutToken)
        parameters = (url.query ?? "").split(separator: "&").map(String.init).filter { !Self.isToken($0) }.sorted()
    }

    private static func isToken(_ parameter: String) -> Bool {
        let name = parameter.prefix { $0 != "=" }.lowercased()
        return names.contains(name) || prefixes.contains(where: name.hasPrefix) || parts.contains(where: name.contains)
    }

    /// Many ids of films look like tokens too: the content decides. A comma may separate a token from its time of expiry, or from the
    /// rest of the name.
    private static func withoutToken(_ part: Substring) -> Substring {
        guard part.contains(","), !part.contains("=") else { return withoutSingleToken(part) }
        let words = part.split(separator: ",", omittingEmptySubsequences: false).map(withoutSingleToken)
        return Substring(words.joined(separator: ","))
    }

    private static func withoutSingleToken(_ part: Substring) -> Substring {
        if part.utf8.count >= 20, !part.contains(".") || part.hasPrefix("ey"), isOpaque(part) {
            return "*"
        }
        // A time of expiry: seconds since 1970.
        if part.utf8.count == 10, part.hasPrefix("1"), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return "*"
        }
        guard part.contains("=") else { return part }
        let words = part.split { $0 == ";" || $0 == "~" || $0 == "," || $0 == "&" }
        let kept = words.filter { !($0.contains("=") && isToken(String($0))) }
        guard kept.count < words.count else { return part }
        return Substring(kept.joined(separator: ";"))
    }

    /// True for letters and digits mixed as in hexadecimal digits, Base64, and JSON Web Tokens with their dots.
    private static func isOpaque(_ part: Substring) -> Bool {
        var letters = 0
        var digits = 0
        for byte in part.utf8 {
            switch byte {
            case 0x30...0x39: digits += 1
            case 0x41...0x5A, 0x61...0x7A: letters += 1
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "="), UInt8(ascii: "+"): break
            default: return false
            }
        }
        return digits > 2 && letters > 2
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
