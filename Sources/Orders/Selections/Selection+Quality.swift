extension Selection {
    /// The choice of a variant; as text `best`, `worst`, `720p`, `<=1080p`, `2M`, `265000`, or a list
    /// such as `720p,best`.
    package enum Quality: Equatable, Sendable, LosslessStringConvertible {
        case best
        case worst
        /// Exactly this height in pixels; among several, the highest bandwidth.
        case height(Int)
        /// At most this height in pixels; among several, the highest bandwidth.
        case heightAtMost(Int)
        /// The lowest bandwidth of at least this many bits per second, else the highest.
        case minimumBandwidth(Int)
        /// The first of these that a variant has; none of them is such a list.
        case firstOf([Quality])

        package init?(_ text: String) {
            switch text {
            case "best": self = .best
            case "worst": self = .worst
            default:
                let one = Self.height(text) ?? Self.bandwidth(text)
                guard let form = one ?? Self.list(text) else { return nil }
                self = form
            }
        }

        private static func height(_ text: String) -> Quality? {
            guard text.hasSuffix("p") else { return nil }
            let digits = text.dropLast()
            guard text.hasPrefix("<=") else { return positive(digits).map(Quality.height) }
            return positive(digits.dropFirst(2)).map(Quality.heightAtMost)
        }

        private static func bandwidth(_ text: String) -> Quality? {
            guard let bits = BitRateText.bits(text), bits >= BitRateText.least else { return nil }
            return .minimumBandwidth(bits)
        }

        private static func list(_ text: String) -> Quality? {
            let words = text.split(separator: ",", omittingEmptySubsequences: false)
            guard (2...longestList).contains(words.count) else { return nil }
            var qualities: [Quality] = []
            for word in words {
                guard !word.contains(","), let quality = Quality(String(word)) else { return nil }
                qualities.append(quality)
            }
            return .firstOf(qualities)
        }

        private static let longestList = 8

        /// The height that a number too small for a bit rate probably means; nil for any other text.
        package static func meantHeight(_ text: String) -> Int? {
            guard let number = positive(Substring(text)), number < BitRateText.least else { return nil }
            return number
        }

        package var description: String {
            switch self {
            case .best: "best"
            case .worst: "worst"
            case .height(let pixels): "\(pixels)p"
            case .heightAtMost(let pixels): "<=\(pixels)p"
            case .minimumBandwidth(let bits) where bits % 1_000_000 == 0: "\(bits / 1_000_000)M"
            case .minimumBandwidth(let bits): "\(bits)"
            case .firstOf(let qualities): qualities.map(\.description).joined(separator: ",")
            }
        }
    }
}

extension Selection.Quality: Codable {
    package init(from decoder: any Decoder) throws {
        self = try decoder.parsed(as: "best, worst, 720p, <=1080p, 2M, or a list such as 720p,best")
    }
    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
