/// The user name and password in a URL, as `https://user:password@host/`: sent to that host as Basic (RFC 7617), and
/// never shown.
public struct UserInformation: Sendable {
    /// The URL's text without them. Equal to the given text if there are none.
    public let url: String
    /// The Authorization field; nil if the URL has neither a user name nor a password.
    public let field: FieldLine?

    /// Splits the text of an absolute URL. In a URL of another scheme than http and https, the text before `@` stays.
    public init(splitting text: String) {
        let bytes = Array(text.utf8)
        let scheme = WebURL.splitScheme(text[...].utf8).flatMap { WebURL.Scheme(ofWeb: $0.name) }
        guard scheme != nil, let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            case let start = colon + 3, bytes[colon...].starts(with: "://".utf8),
            case let authority = bytes[start...].prefix(while: { !"/?#".utf8.contains($0) }),
            let end = authority.lastIndex(of: UInt8(ascii: "@"))
        else {
            url = text
            field = nil
            return
        }

        url = String(decoding: bytes[..<start] + bytes[(end + 1)...], as: UTF8.self)
        let parts = authority[..<end].split(
            separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard !parts.allSatisfy(\.isEmpty) else {
            field = nil
            return
        }

        let words = parts.map { part in
            let word = String(decoding: part, as: UTF8.self)
            return PercentEncoding.decode(word) ?? word
        }
        let password = words.dropFirst().first ?? ""
        let pair = "\(words[0]):\(password)"
        field = FieldLine("Authorization: Basic \(Self.base64(Array(pair.utf8)))".utf8)
    }

    /// RFC 4648 §4.
    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = Array(bytes[start..<min(start + 3, bytes.count)])
            var bits = 0
            for index in 0..<3 {
                bits <<= 8
                if index < group.count {
                    bits |= Int(group[index])
                }
            }
            for index in 0..<4 {
                let isPadding = index > group.count
                if isPadding {
                    text.append(UInt8(ascii: "="))
                } else {
                    text.append(alphabet[bits >> (18 - 6 * index) & 63])
                }
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The user name and password of an Authorization field in the scheme Basic (RFC 7617).
public struct BasicCredentials: Equatable, Sendable {
    /// Without a colon.
    public let user: String
    /// May be empty.
    public let password: String

    /// Nil for another field or scheme, and for what is no Base64.
    public init?(_ field: FieldLine) {
        let parts = field.value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard field.isNamed(FieldName("Authorization")), parts.count == 2, parts[0].lowercased() == "basic",
            let pair = Self.decoded(parts[1].utf8), let colon = pair.firstIndex(of: ":")
        else { return nil }
        user = String(pair[..<colon])
        password = String(pair[pair.index(after: colon)...])
    }

    /// RFC 4648 §4; nil for another text, and for bytes that are not UTF-8.
    private static func decoded(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        for byte in text where byte != UInt8(ascii: "=") {
            let value: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension BasicCredentials: CustomStringConvertible, CustomReflectable {
    /// Without secrets.
    public var description: String { "a user name and a password" }
    /// Without secrets.
    public var customMirror: Mirror { Mirror(reflecting: description) }
}
