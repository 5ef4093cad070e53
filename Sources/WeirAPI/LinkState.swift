package import SafeText

/// The state of a link conditioner: its settings and its traffic.
package struct LinkState: Codable, Equatable, Sendable {
    package var figures: LinkFigures
    package var traffic: Traffic

    package struct Traffic: Codable, Equatable, Sendable {
        /// The URL of the server behind the conditioner.
        package var upstream: String
        /// The URL for clients to use instead of `upstream`.
        package var listening: String
        package var connections: Int
        package var accepted: Int
        /// Seconds since the start.
        package var seconds: Seconds
        package var bytesDown: Int
        package var bytesUp: Int
        /// Bits delivered to the clients in the last full second.
        package var rateDown: Int
        /// Bits delivered to the upstream in the last full second.
        package var rateUp: Int
    }

    package init(from decoder: any Decoder) throws {
        figures = try LinkFigures(from: decoder)
        traffic = try Traffic(from: decoder)
    }

    package func encode(to encoder: any Encoder) throws {
        try figures.encode(to: encoder)
        try traffic.encode(to: encoder)
    }
}

/// A change of a link's settings, with the units of `LinkFigures`: first a preset for all of them, then single settings;
/// nil keeps a setting.
package struct LinkChange: Codable, Equatable, Sendable {
    package var preset: String?
    package var down: LinkRate?
    package var up: LinkRate?
    package var delayDown: LinkDelay?
    package var delayUp: LinkDelay?
    package var loss: Ratio?
    package var dnsDelay: LinkDelay?

    package init(preset: String? = nil) { self.preset = preset }

    /// Reads a change. A null rate means no limit; an absent rate does not change.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        preset = try values.decodeIfPresent(String.self, forKey: .preset)
        if values.contains(.down) {
            down = try values.decode(LinkRate.self, forKey: .down)
        }
        if values.contains(.up) {
            up = try values.decode(LinkRate.self, forKey: .up)
        }
        delayDown = try values.decodeIfPresent(LinkDelay.self, forKey: .delayDown)
        delayUp = try values.decodeIfPresent(LinkDelay.self, forKey: .delayUp)
        loss = try values.decodeIfPresent(Ratio.self, forKey: .loss)
        dnsDelay = try values.decodeIfPresent(LinkDelay.self, forKey: .dnsDelay)
    }
}

/// The settings of a conditioned link. "Down" is the direction towards the client.
package struct LinkFigures: Codable, Equatable, Sendable {
    /// The preset that has these figures; nil for custom figures.
    package var preset: String?
    package var down: LinkRate
    package var up: LinkRate
    /// Delay towards the client.
    package var delayDown: LinkDelay
    /// Delay from the client.
    package var delayUp: LinkDelay
    /// Packet loss in per cent.
    package var loss: Ratio
    /// Delay of an uncached name lookup.
    package var dnsDelay: LinkDelay

    init(
        _ preset: String, down: LinkRate = .unlimited, up: LinkRate = .unlimited,
        delays: (down: LinkDelay, up: LinkDelay) = (0, 0), loss: Ratio = 0, dnsDelay: LinkDelay = 0
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
    package static let presets = [
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
    package static let off = LinkFigures("off")

    package static func preset(named name: String) -> LinkFigures? {
        presets.first { $0.preset?.lowercased() == name.lowercased() }
    }
}

/// A delay in milliseconds, up to a day.
package struct LinkDelay: BoundedNumber {
    package static let largest = 86_400_000.0
    package let value: Double

    package init(clamping value: Double) { self.value = Self.clamped(value) }
}

/// The rate limit of one direction of a link.
package enum LinkRate: Equatable, Sendable {
    case unlimited
    /// A limit in bits per second; 0 blocks all traffic.
    case bits(Ratio)

    /// Parses a rate: `780k`, `2M`, `50Mb/s`, `64000`, `unlimited`; nil for any other text.
    package init?(_ text: String) {
        guard text.lowercased() != "unlimited" else {
            self = .unlimited
            return
        }
        let units = ["b/s": 1, "k": 1e3, "kb/s": 1e3, "m": 1e6, "mb/s": 1e6, "g": 1e9, "gb/s": 1e9]
        guard let bits = LinkNumber.rate(text, units: units) else { return nil }
        self = .bits(bits)
    }
}

/// In JSON a number, or null for no limit.
extension LinkRate: Codable {
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        guard !value.decodeNil() else {
            self = .unlimited
            return
        }
        self = .bits(try value.decode(Ratio.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .unlimited: try value.encodeNil()
        case .bits(let bits): try value.encode(bits)
        }
    }
}

/// Parses numbers with units in the forms that `tools/link` accepts.
package enum LinkNumber {
    /// Parses milliseconds from `100`, `100ms` or `1.5s`; nil for any other text.
    package static func delay(_ text: String) -> LinkDelay? {
        read(text, units: ["ms": 1, "s": 1000]).map { LinkDelay(clamping: $0) }
    }

    /// Parses per cent, 0 to 100, from `10` or `10%`; nil for any other text.
    package static func share(_ text: String) -> Ratio? {
        guard let number = read(text, units: ["%": 1]), number <= 100 else { return nil }
        return Ratio(number)
    }

    static func rate(_ text: String, units: [String: Double]) -> Ratio? {
        read(text, units: units).map { Ratio(clamping: $0) }
    }

    /// Parses a number with the longest unit that the text ends with, ignoring case.
    private static func read(_ text: String, units: [String: Double]) -> Double? {
        let text = text.lowercased()
        let unit = units.filter { text.hasSuffix($0.key) }.max { $0.key.utf8.count < $1.key.utf8.count }
        var digits = text.dropLast(unit?.key.count ?? 0)
        while digits.last == " " {
            digits.removeLast()
        }
        let factor = unit?.value ?? 1
        return Ratio(decimal: digits).map { $0.value * factor }
    }
}
