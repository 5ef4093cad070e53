/// Percent-encoding (RFC 3986 §2.1) of one path segment or query value.
public enum PercentEncoding {
    /// Encodes everything but unreserved characters (RFC 3986 §2.3).
    public static func encode(_ text: String) -> String {
        var result: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), hexadecimal(byte >> 4), hexadecimal(byte & 15)]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Decodes a text; nil for a broken encoding and for bytes that are not UTF-8.
    public static func decode(_ text: some StringProtocol) -> String? {
        var result: [UInt8] = []
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = bytes.next().flatMap(value), let low = bytes.next().flatMap(value) else { return nil }
            result.append(high << 4 | low)
        }
        return String(validating: result, as: UTF8.self)
    }

    /// The URL of http or https in a text that is its encoding as a whole, such as `https%3A%2F%2Fhost%2Fa.m3u8`; nil for any other
    /// text. An unencoded query behind it, which a player may have added, joins the URL's own.
    public static func decodeURL(_ text: String) -> String? {
        let scheme = text.utf8.prefix { ($0 | 0x20) &- 0x61 < 26 }
        let rest = text.utf8.dropFirst(scheme.count)
        guard ["http", "https"].contains(String(Substring(scheme)).lowercased()),
            ByteClass.equals(rest.prefix(3), ignoringCase: "%3a")
        else { return nil }
        // Only the colon is encoded.
        let path = rest.dropFirst(3)
        if path.first == UInt8(ascii: "/") {
            return "\(Substring(scheme)):\(Substring(path))"
        }

        guard ByteClass.equals(path.prefix(3), ignoringCase: "%2f") else { return nil }
        let encoded = text.prefix { $0 != "?" }
        guard let decoded = decode(encoded) else { return nil }
        // A blank that was encoded once stands for itself.
        let url = decoded.replacing(" ", with: "%20")
        guard encoded.endIndex < text.endIndex else { return url }
        var separator = "?"
        if url.contains("?") {
            separator = "&"
        }
        return url + separator + text[encoded.endIndex...].dropFirst()
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func hexadecimal(_ nibble: UInt8) -> UInt8 {
        guard nibble >= 10 else { return UInt8(ascii: "0") + nibble }
        return UInt8(ascii: "A") + nibble - 10
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
