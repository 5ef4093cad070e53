extension API {
    /// Preferences for choices that a request leaves open; part of `DownloadRequest`. Every key is optional.
    public struct Preferences: Codable, Equatable, Sendable {
        /// Chooses the lowest variant with at least this many bits per second, else the highest variant.
        public var minimumBitRate: Int?
        /// Chooses the lowest variant of at least this size, else the highest variant.
        public var minimumSize: Size?
        /// True if HLG and PQ variants rank before SDR.
        public var prefersHDR: Bool?
        /// True if variants with more than stereo rank before others. Stereo is then stored as well.
        public var prefersMultichannel: Bool?
        /// Codec families, most preferred first: `avc1`, `hvc1`.
        public var codecs: [String]?
        /// Languages for a `Choice` of `default` as RFC 5646 tags, most preferred first.
        public var languages: [String]?
        /// The user's language as an RFC 5646 tag, used if none of `languages` is available.
        public var locale: String?
        /// True to prefer speed over quality: chooses the fewest bytes that meet the request.
        public var isFast: Bool?

        /// No preferences.
        public init() {}
    }

    /// A minimum video size; as text `1280x720` or `720p`.
    public struct Size: Equatable, Sendable, LosslessStringConvertible {
        /// Width in pixels; nil for any.
        public let width: Int?
        /// Height in pixels.
        public let height: Int

        /// Creates a size.
        public init(width: Int?, height: Int) {
            self.width = width
            self.height = height
        }

        /// Parses a size; nil for text in neither form.
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

        /// The text form, which `init(_:)` parses.
        public var description: String { width.map { "\($0)x\(height)" } ?? "\(height)p" }
    }
}

extension API.Size: Codable {
    /// Reads the text form from JSON.
    public init(from decoder: any Decoder) throws { self = try decoder.form("1280x720 or 720p") }
    /// Writes the text form to JSON.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
