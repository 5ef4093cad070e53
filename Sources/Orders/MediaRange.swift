package import SafeText

/// A range of media time: in JSON `[600, 1200]` in seconds, with null for the end of the media; as text
/// `10:00-20:00`, `10:00-`, `-20:00`, `90.5-1:02:03`.
package struct MediaRange: Hashable, Sendable {
    package let start: Seconds
    /// Exclusive; nil for the end of the media.
    package let end: Seconds?

    /// Creates a range; nil for an empty one.
    package init?(start: Seconds, end: Seconds?) {
        guard start < end ?? .longest else { return nil }
        self.start = start
        self.end = end
    }

    /// The range for the downloader. An open end is later than the end of any media.
    package var seconds: Range<Double> { start.value..<(end ?? .longest).value }
}

extension MediaRange: LosslessStringConvertible {
    /// Parses `START-END`; one of them may be empty. Each is seconds, `m:s` or `h:m:s`, with or without a fraction.
    package init?(_ text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.contains(where: { !$0.isEmpty }) else { return nil }
        let times = ends.map { Self.time($0) }
        guard zip(ends, times).allSatisfy({ $0.isEmpty || $1 != nil }) else { return nil }
        self.init(start: times[0] ?? 0, end: times[1])
    }

    private static func time(_ text: Substring) -> Seconds? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = parts.last, (1...3).contains(parts.count), let seconds = decimal(last) else { return nil }
        var minutes = 0.0
        for part in parts.dropLast() {
            guard part.utf8.count <= 9, isDigits(part), let value = Double(part) else { return nil }
            // Minutes after hours are below 60.
            guard part.startIndex == parts[0].startIndex || value < 60 else { return nil }
            minutes = minutes * 60 + value
        }
        guard parts.count == 1 || seconds < 60 else { return nil }
        return Seconds(clamping: minutes * 60 + seconds.value)
    }

    /// Parses `90` or `90.5`.
    private static func decimal(_ text: Substring) -> Seconds? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, text.utf8.count <= 20, parts.allSatisfy(isDigits) else { return nil }
        return Seconds(decimal: text)
    }

    private static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
    }

    /// Seconds with at most three digits: finer ones are noise of binary fractions.
    private static func text(_ time: Seconds) -> String { "\((time.value * 1000).rounded() / 1000)" }

    /// The range in seconds: `600.0-1200.0`.
    package var description: String {
        let end = end.map(Self.text) ?? ""
        return "\(Self.text(start))-\(end)"
    }
}

extension MediaRange: Codable {
    package init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        let start = try values.decode(Seconds.self)
        let end = values.isAtEnd ? nil : try values.decodeIfPresent(Seconds.self)
        guard let range = Self(start: start, end: end), values.isAtEnd else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "a range is [start, end] in seconds, with the end after the start, or null"))
        }
        self = range
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.unkeyedContainer()
        try values.encode(start)
        try values.encode(end)
    }
}
