extension API {
    /// A stretch of media time that is wanted. In JSON an array of two numbers of seconds, `[600, 1200]`, the second
    /// one null for the end of the media; as text `10:00-20:00`, `10:00-`, `-20:00`, `90.5-1:02:03`.
    public struct MediaRange: Equatable, Sendable {
        /// The first instant, in seconds; 0 or more.
        public let start: Double
        /// The instant behind the last, in seconds; nil for the end of the media.
        public let end: Double?

        /// A stretch; nil for one that ends before it begins, or begins nowhere.
        public init?(start: Double, end: Double?) {
            guard start.isFinite, start >= 0, start < Self.farthest else { return nil }
            if let end { guard end.isFinite, start < end, end <= Self.farthest else { return nil } }
            self.start = start
            self.end = end
        }

        /// The stretch as the downloader takes it. Behind the end of any media there is nothing to come.
        public var seconds: Range<Double> { start..<(end ?? Self.farthest) }

        /// Nothing lasts so long, in seconds: thirty years.
        private static let farthest = 1e9
    }
}

extension API.MediaRange: LosslessStringConvertible {
    /// Reads `START-END`, of which one may be left out; each is seconds, `m:s` or `h:m:s`, the seconds with a fraction
    /// or not.
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
            // Behind hours there are minutes, of which an hour has 60.
            guard part.startIndex == parts[0].startIndex || value < 60 else { return nil }
            minutes = minutes * 60 + value
        }
        guard parts.count == 1 || seconds < 60 else { return nil }
        return minutes * 60 + seconds
    }

    /// `90` or `90.5`.
    private static func decimal(_ text: Substring) -> Double? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, text.utf8.count <= 20, parts.allSatisfy(isDigits) else { return nil }
        return Double(text)
    }

    private static func isDigits(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
    }

    /// `600-1200`, in seconds.
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
