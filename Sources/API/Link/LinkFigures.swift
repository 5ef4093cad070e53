/// What a conditioned link does to what crosses it. Down is towards the one who connects.
public struct LinkFigures: Codable, Equatable, Sendable {
    /// The preset that has these figures; nil for ones of the user's own.
    public var preset: String?
    /// Towards the client.
    public var down: LinkRate
    /// From the client.
    public var up: LinkRate
    /// Milliseconds that a byte takes towards the client.
    public var delayDown: Double
    /// Milliseconds that a byte takes from the client.
    public var delayUp: Double
    /// Per cent of the packets.
    public var loss: Double
    /// Milliseconds for a name that is not known.
    public var dnsDelay: Double

    /// A preset.
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
    /// The known presets, from the worst to the best of what they are about; those of `tools/link`.
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

    /// A link that does nothing.
    public static let off = LinkFigures("off")

    /// The preset of a name, whatever its case.
    public static func preset(named name: String) -> LinkFigures? {
        presets.first { $0.preset?.lowercased() == name.lowercased() }
    }
}
