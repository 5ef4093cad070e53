extension API {
    /// A range of media time. In JSON an array of two numbers of seconds, `[600, 1200]`, with null in second place for
    /// the end of the media; as text `10:00-20:00`, `10:00-`, `-20:00`, `90.5-1:02:03`.
    public struct MediaRange: Equatable, Sendable {
        /// Start in seconds, 0 or more.
        public let start: Double
        /// End in seconds, exclusive; nil for the end of the media.
        public let end: Double?

        /// Creates a range; nil for an empty range, or one that is not finite or starts before 0.
        public init?(start: Double, end: Double?) {
            guard start.isFinite, start >= 0, start < Self.farthest else { return nil }
            if let end { guard end.isFinite, start < end, end <= Self.farthest else { return nil } }
            self.start = start
            self.end = end
        }

        /// The range for the downloader. An open end is later than the end of any media.
        public var seconds: Range<Double> { start..<(end ?? Self.farthest) }

        /// An upper bound for the length of media, in seconds: thirty years.
        private static let farthest = 1e9
    }
}

extension API.MediaRange: LosslessStringConvertible {
    /// Parses `START-END`; one of them may be empty. Each is seconds, `m:s` or `h:m:s`, with or without a fraction of a
    /// second.
    public init?(_ text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.contains(where: { !$0.isEmpty }) else { return nil }
        let times = ends.map { Self.time($0) }
        guard zip(ends, times).allSatisfy({ $0.isEmpty || $1 != nil }) else { return nil }
        self.init(start: times[0] ?? 0, end: times[1])
    }

    private static func time(_ text: Substring) -> Double? {
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
        return minutes * 60 + seconds
    }

    /// Parses `90` or `90.5`.
    private static func decimal(_ text: Substring) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, text.utf8.count <= 20, parts.allSatisfy(isDigits) else { return nil }
        return Double(text)
    }

    private static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
    }

    /// The range in seconds: `600-1200`.
    public var description: String { "\(API.milliseconds(start))-" + (end.map { "\(API.milliseconds($0))" } ?? "") }
}

extension API.MediaRange: Codable {
    /// Reads `[start, end]`.
    public init(from decoder: any Decoder) throws {
        var values = try decoder.unkeyedContainer()
        let start = try values.decode(Double.self)
        let end = values.isAtEnd ? nil : try values.decodeIfPresent(Double.self)
        guard let range = Self(start: start, end: end), values.isAtEnd else {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "a range is [start, end] in seconds, the end behind the start, or null"))
        }
        self = range
    }

    /// Writes `[start, end]`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.unkeyedContainer()
        try values.encode(start)
        try values.encode(end)
    }
}
