/// The settings of a conditioned link. "Down" is the direction towards the client.
public struct LinkFigures: Codable, Equatable, Sendable {
    /// The preset that has these figures; nil for custom figures.
    public var preset: String?
    /// Rate towards the client.
    public var down: LinkRate
    /// Rate from the client.
    public var up: LinkRate
    /// Delay towards the client in milliseconds.
    public var delayDown: Double
    /// Delay from the client in milliseconds.
    public var delayUp: Double
    /// Packet loss in per cent.
    public var loss: Double
    /// Delay of an uncached name lookup in milliseconds.
    public var dnsDelay: Double

    /// Creates a preset.
    init(
        _ preset: String, down: LinkRate = .unlimited, up: LinkRate = .unlimited,
        delays: (down: Double, up: Double) = (0, 0), loss: Double = 0, dnsDelay: Double = 0
    ) {
        self.preset = preset
        self.down = down
        self.up = up
        delayDown = delays.down
        delayUp = delays.up
        self.loss = loss
        self.dnsDelay = dnsDelay
    }
}

extension LinkFigures {
    /// The known presets: networks roughly from slow to fast, then special faults. The same as in `tools/link`.
    public static let presets = [
        LinkFigures("100% Loss", down: .bits(0), up: .bits(0), loss: 100),
        LinkFigures("EDGE", down: .bits(240_000), up: .bits(200_000), delays: (400, 440)),
        LinkFigures("3G", down: .bits(780_000), up: .bits(330_000), delays: (100, 100)),
        LinkFigures("DSL", down: .bits(2_000_000), up: .bits(256_000), delays: (5, 5)),
        LinkFigures("LTE", down: .bits(50_000_000), up: .bits(10_000_000), delays: (50, 65)),
        LinkFigures("Wi-Fi", down: .bits(40_000_000), up: .bits(33_000_000), delays: (1, 1)),
        LinkFigures("Wi-Fi 802.11ac", down: .bits(250_000_000), up: .bits(100_000_000), delays: (1, 1)),
        LinkFigures("High Latency DNS", dnsDelay: 3000),
        LinkFigures("Very Bad Network", down: .bits(1_000_000), up: .bits(1_000_000), delays: (500, 500), loss: 10),
        off,
    ]

    /// A link without any limit or delay.
    public static let off = LinkFigures("off")

    /// Finds a preset by its name, ignoring case.
    public static func preset(named name: String) -> LinkFigures? {
        presets.first { $0.preset?.lowercased() == name.lowercased() }
    }
}

/// The rate limit of one direction of a link.
public enum LinkRate: Equatable, Sendable {
    /// No limit.
    case unlimited
    /// A limit in bits per second; 0 blocks all traffic.
    case bits(Double)

    /// Parses a rate: `780k`, `2M`, `50Mb/s`, `64000`, `unlimited`; nil for any other text.
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

/// In JSON a number, or null for no limit.
extension LinkRate: Codable {
    /// Reads a number, or null for no limit.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        self = value.decodeNil() ? .unlimited : .bits(try value.decode(Double.self))
    }

    /// Writes a number, or null for no limit.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .unlimited: try value.encodeNil()
        case .bits(let bits): try value.encode(bits)
        }
    }
}

/// Parses numbers with units in the forms that `tools/link` accepts.
public enum LinkNumber {
    /// Parses milliseconds from `100`, `100ms` or `1.5s`; nil for any other text.
    public static func delay(_ text: String) -> Double? { read(text, units: ["ms": 1, "s": 1000]) }

    /// Parses per cent, 0 to 100, from `10` or `10%`; nil for any other text.
    public static func share(_ text: String) -> Double? { read(text, units: ["%": 1]).flatMap { $0 <= 100 ? $0 : nil } }

    /// Parses a number with the longest unit that the text ends with, ignoring case.
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
