extension API {
    /// The choice of a variant; as text `best`, `worst`, `720p`, `<=1080p`, `2M`.
    public enum Quality: Equatable, Sendable, LosslessStringConvertible {
        /// The highest bandwidth.
        case best
        /// The lowest bandwidth.
        case worst
        /// Exactly this height in pixels; among several, the highest bandwidth.
        case height(Int)
        /// At most this height in pixels; among several, the highest bandwidth.
        case heightAtMost(Int)
        /// The lowest bandwidth of at least this many bits per second, else the highest.
        case minimumBandwidth(Int)

        /// Parses a quality; nil for text in none of the forms.
        public init?(_ text: String) {
            switch text {
            case "best": self = .best
            case "worst": self = .worst
            default:
                guard let form = Self.height(text) ?? Self.bandwidth(text) else { return nil }
                self = form
            }
        }

        private static func height(_ text: String) -> Quality? {
            let isBound = text.hasPrefix("<=")
            guard text.hasSuffix("p"), let pixels = number(text.dropFirst(isBound ? 2 : 0).dropLast()) else {
                return nil
            }
            return isBound ? .heightAtMost(pixels) : .height(pixels)
        }

        /// Parses a bandwidth in bits per second: `2M`, `1.5M`, `800k`.
        private static func bandwidth(_ text: String) -> Quality? {
            let scale: Double
            switch text.last {
            case "M": scale = 1_000_000
            case "k": scale = 1000
            default: return nil
            }
            let digits = text.dropLast()
            guard digits.first != "+", digits.allSatisfy({ $0.isNumber || $0 == "." }), let value = Double(digits),
                value > 0, value < 1_000_000
            else { return nil }
            return .minimumBandwidth(Int((value * scale).rounded()))
        }

        private static func number(_ digits: Substring) -> Int? {
            guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let value = Int(digits), value > 0 else {
                return nil
            }
            return value
        }

        /// The text form, which `init(_:)` parses.
        public var description: String {
            switch self {
            case .best: "best"
            case .worst: "worst"
            case .height(let pixels): "\(pixels)p"
            case .heightAtMost(let pixels): "<=\(pixels)p"
            case .minimumBandwidth(let bits) where bits % 1_000_000 == 0: "\(bits / 1_000_000)M"
            case .minimumBandwidth(let bits): "\(Double(bits) / 1000)k"
            }
        }
    }

    /// The choice of renditions in a group; as text `default`, `all`, `none`, or languages such as `en,ja`.
    public enum Choice: Equatable, Sendable, LosslessStringConvertible {
        /// The rendition that a player would choose: in a preferred language, in the user's language, with DEFAULT=YES,
        /// or the first.
        case `default`
        /// All renditions.
        case all
        /// No rendition.
        case none
        /// Renditions whose LANGUAGE is one of these tags or begins with one (`en` includes `en-GB`). Lower case, not
        /// empty.
        case languages([String])

        /// Parses a choice; nil for text in none of the forms.
        public init?(_ text: String) {
            switch text {
            case "default": self = .default
            case "all": self = .all
            case "none": self = .none
            default:
                let tags = text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                guard tags.allSatisfy(Self.isTag) else { return nil }
                self = .languages(tags)
            }
        }

        private static func isTag(_ text: String) -> Bool {
            (2...35).contains(text.utf8.count)
                && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
        }

        /// The text form, which `init(_:)` parses.
        public var description: String {
            switch self {
            case .default: "default"
            case .all: "all"
            case .none: "none"
            case .languages(let tags): tags.joined(separator: ",")
            }
        }
    }
}

extension API.Quality: Codable {
    /// Reads the text form from JSON.
    public init(from decoder: any Decoder) throws { self = try decoder.form("best, worst, 720p, <=1080p or 2M") }
    /// Writes the text form to JSON.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension API.Choice: Codable {
    /// Reads the text form from JSON.
    public init(from decoder: any Decoder) throws { self = try decoder.form("default, all, none or en,ja") }
    /// Writes the text form to JSON.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension Decoder {
    /// Decodes a string with few forms; `wanted` names the forms for the error.
    func form<Value: LosslessStringConvertible>(_ wanted: String) throws -> Value {
        let text = try singleValueContainer().decode(String.self)
        guard let value = Value(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: "\"\(text)\" is not \(wanted)"))
        }
        return value
    }
}
