extension API {
    /// Which variant is wanted; as text `best`, `worst`, `720p`, `<=1080p`, `2M`.
    public enum Quality: Equatable, Sendable, LosslessStringConvertible {
        /// The highest bandwidth.
        case best
        /// The lowest bandwidth.
        case worst
        /// Exactly so many pixels down; of several such, the highest bandwidth.
        case height(Int)
        /// At most so many pixels down; of several such, the highest bandwidth.
        case heightAtMost(Int)
        /// The lowest bandwidth at or above so many bits a second, else the highest.
        case minimumBandwidth(Int)

        /// Reads the text; nil when it is none of the forms.
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

        /// `2M`, `1.5M`, `800k`, in bits a second.
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

        /// The text that reads as this.
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

    /// Which renditions of a group are wanted; as text `default`, `all`, `none`, or languages such as `en,ja`.
    public enum Choice: Equatable, Sendable, LosslessStringConvertible {
        /// The one that a player would choose: in a preferred language, in the user's own, with DEFAULT=YES, or the
        /// first.
        case `default`
        /// Every one.
        case all
        /// Not one.
        case none
        /// Those whose LANGUAGE is one of these tags, or begins with one (`en` takes `en-GB`); in lower case, not
        /// empty.
        case languages([String])

        /// Reads the text; nil when it is none of the forms.
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

        /// The text that reads as this.
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
    /// Reads the text from JSON.
    public init(from decoder: any Decoder) throws { self = try decoder.form("best, worst, 720p, <=1080p or 2M") }
    /// Writes the text to JSON.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension API.Choice: Codable {
    /// Reads the text from JSON.
    public init(from decoder: any Decoder) throws { self = try decoder.form("default, all, none or en,ja") }
    /// Writes the text to JSON.
    public func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension Decoder {
    /// A value that is a string of few forms, which `wanted` names.
    func form<Value: LosslessStringConvertible>(_ wanted: String) throws -> Value {
        let text = try singleValueContainer().decode(String.self)
        guard let value = Value(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: "\"\(text)\" is not \(wanted)"))
        }
        return value
    }
}
