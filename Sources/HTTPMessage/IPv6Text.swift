/// The textual form of IPv6 addresses (RFC 3986 §3.2.2, `IPv6address`). Zone identifiers are refused.
enum IPv6Text {
    /// True if `text`, without brackets, is an address.
    static func isValid(_ text: Substring) -> Bool {
        guard let gap = gap(in: text.utf8) else { return groups(text.utf8) == 8 }
        let tail = text.utf8[text.utf8.index(gap, offsetBy: 2)...]
        guard let before = groups(text.utf8[..<gap], allowsIPv4: false), let after = groups(tail) else { return false }
        return before + after <= 7
    }

    private static func gap(in text: Substring.UTF8View) -> Substring.UTF8View.Index? {
        zip(text.indices, text.indices.dropFirst()).first { text[$0] == colon && text[$1] == colon }?.0
    }

    /// The number of 16-bit groups in `text`, 0 if it is empty; nil if it is malformed.
    private static func groups(_ text: Substring.UTF8View, allowsIPv4: Bool = true) -> Int? {
        if text.isEmpty { return 0 }
        let parts = text.split(separator: colon, omittingEmptySubsequences: false)
        let hasIPv4 = allowsIPv4 && parts.last.map(isIPv4) == true
        guard parts.dropLast(hasIPv4 ? 1 : 0).allSatisfy(isGroup) else { return nil }
        return parts.count + (hasIPv4 ? 1 : 0)
    }

    private static func isGroup(_ text: Substring.UTF8View) -> Bool {
        (1...4).contains(text.count) && text.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    private static func isIPv4(_ text: Substring.UTF8View) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                (1...3).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
                    && UInt8(Substring(part)) != nil
            }
    }

    private static let colon = UInt8(ascii: ":")
}
