extension API {
    /// What is preferred where a playlist leaves a choice; part of `DownloadRequest`. Every key may be absent.
    public struct Preferences: Codable, Equatable, Sendable {
        /// The lowest variant at or above so many bits a second is wanted, else the highest.
        public var minimumBitRate: Int?
        /// The lowest variant at or above this size is wanted, else the highest.
        public var minimumSize: Size?
        /// True if a variant in HLG or PQ goes before one in SDR.
        public var prefersHDR: Bool?
        /// True if a variant with more than stereo goes before others; stereo is then kept as well.
        public var prefersMultichannel: Bool?
        /// Families of codecs, the most wanted first: `avc1`, `hvc1`.
        public var codecs: [String]?
        /// Languages for a `Choice` of `default`, the most wanted first, as RFC 5646 tags.
        public var languages: [String]?
        /// The user's own language as an RFC 5646 tag, for where none of `languages` is there.
        public var locale: String?
        /// True if fast goes before best: the fewest bytes that meet what was asked for.
        public var isFast: Bool?

        /// No preferences.
        public init() {}
    }

    /// A picture's least size; as text `1280x720`, or `720p`.
    public struct Size: Equatable, Sendable, LosslessStringConvertible {
        /// Pixels across; nil for any.
        public let width: Int?
        /// Pixels down.
        public let height: Int

        /// A size.
        public init(width: Int?, height: Int) {
            self.width = width
            self.height = height
        }

        /// Reads the text; nil when it is neither form.
        public init?(_ text: String) {
            if text.hasSuffix("p") {
                guard let height = Self.number(text.dropLast()) else { return nil }
                self.init(width: nil, height: height)
            } else {
                let parts = text.split(separator: "x", omittingEmptySubsequences: false)
                guard parts.count == 2, let width = Self.number(parts[0]), let height = Self.number(parts[1]) else {
                    return nil
                }
                self.init(width: width, height: height)
            }
        }

        private static func number(_ digits: Substring) -> Int? {
            guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let value = Int(digits), value > 0 else {
                return nil
            }
            return value
        }

        /// The text that reads as this.
        public var description: String { width.map { "\($0)x\(height)" } ?? "\(height)p" }
    }
}

extension API.Size: Codable {
    /// Reads the text from JSON.
    public init(from decoder: any Decoder) throws { self = try decoder.form("1280x720 or 720p") }
    /// Writes the text to JSON.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
