import API

/// Formats links for users.
enum LinkText {
    /// The figures in one line: `3G  down 780 kb/s 100 ms  up 330 kb/s 100 ms`.
    static func line(_ figures: LinkFigures) -> String {
        guard figures != .off else { return "off" }
        let parts: [String?] = [
            figures.preset, "down \(rate(figures.down)) \(delay(figures.delayDown))",
            "up \(rate(figures.up)) \(delay(figures.delayUp))", figures.loss > 0 ? "loss \(share(figures.loss))" : nil,
            figures.dnsDelay > 0 ? "DNS \(delay(figures.dnsDelay))" : nil,
        ]
        return parts.compactMap(\.self).joined(separator: "  ")
    }

    /// The figures, the addresses and the traffic.
    static func lines(_ state: LinkState) -> [String] {
        let traffic = state.traffic
        let rows = [
            ["", "CARRIED", "NOW"],
            ["down", Format.bytes(traffic.bytesDown), Format.bandwidth(traffic.rateDown)],
            ["up", Format.bytes(traffic.bytesUp), Format.bandwidth(traffic.rateUp)],
        ]
        let connections = traffic.connections == 1 ? "1 connection" : "\(traffic.connections) connections"
        return [line(state.figures), "\(traffic.listening) for \(traffic.upstream)  \(connections)", ""]
            + TextTable(rows: rows).lines
    }

    /// The presets as a table.
    static func table(_ presets: [LinkFigures]) -> TextTable {
        let rows = presets.map { figures in
            [
                figures.preset ?? "", rate(figures.down), rate(figures.up), delay(figures.delayDown),
                delay(figures.delayUp), share(figures.loss), delay(figures.dnsDelay),
            ]
        }
        return TextTable(rows: [["PRESET", "DOWN", "UP", "DELAY DOWN", "DELAY UP", "LOSS", "DNS"]] + rows)
    }

    private static func rate(_ rate: LinkRate) -> String {
        switch rate {
        case .unlimited: "unlimited"
        case .bits(0): "nothing"
        case .bits(let bits): Format.bandwidth(Int(bits.rounded()))
        }
    }

    private static func delay(_ milliseconds: Double) -> String { "\(number(milliseconds)) ms" }

    private static func share(_ share: Double) -> String { "\(number(share))%" }

    /// A number, without a fraction if it is whole.
    private static func number(_ value: Double) -> String { value == value.rounded() ? "\(Int(value))" : "\(value)" }
}
