/// How much a direction of a link carries.
public enum LinkRate: Equatable, Sendable {
    /// As much as the machine does.
    case unlimited
    /// Bits a second; 0: nothing passes.
    case bits(Double)

    /// A rate as people write it: `780k`, `2M`, `50Mb/s`, `64000`, `unlimited`; nil for anything else.
    public init?(_ text: String) {
        guard text.lowercased() != "unlimited" else {
            self = .unlimited
            return
        }
        let units = ["b/s": 1, "k": 1e3, "kb/s": 1e3, "m": 1e6, "mb/s": 1e6, "g": 1e9, "gb/s": 1e9]
        guard let bits = LinkNumber.read(text, units: units) else { return nil }
        self = .bits(bits)
    }
}

/// In JSON a number, or null where there is no limit.
extension LinkRate: Codable {
    /// Null is no limit.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        self = value.decodeNil() ? .unlimited : .bits(try value.decode(Double.self))
    }

    /// No limit is null.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .unlimited: try value.encodeNil()
        case .bits(let bits): try value.encode(bits)
        }
    }
}

/// Numbers with units, as `tools/link` takes them too.
public enum LinkNumber {
    /// Milliseconds from `100`, `100ms` or `1.5s`; nil for anything else.
    public static func delay(_ text: String) -> Double? { read(text, units: ["ms": 1, "s": 1000]) }

    /// Per cent, 0 to 100, from `10` or `10%`; nil for anything else.
    public static func share(_ text: String) -> Double? { read(text, units: ["%": 1]).flatMap { $0 <= 100 ? $0 : nil } }

    /// The longest unit that the text ends with counts, in any case.
    static func read(_ text: String, units: [String: Double]) -> Double? {
        let text = text.lowercased()
        let unit = units.filter { text.hasSuffix($0.key) }.max { $0.key.utf8.count < $1.key.utf8.count }
        var digits = text.dropLast(unit?.key.count ?? 0)
        while digits.last == " " { digits.removeLast() }
        // Double also reads "nan", "inf" and "0x1".
        guard digits.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }) else { return nil }
        return Double(digits).map { $0 * (unit?.value ?? 1) }
    }
}
