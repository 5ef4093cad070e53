/// The beginning of a recording in what a channel has at the moment: in text `now`, `start` or `10m-ago`.
package enum RecordingStart: Equatable, Sendable {
    /// The end of what the origin lists: at most the last minute.
    case now
    /// The earliest that the origin lists, or that is kept of the channel.
    case start
    /// A time ago, in seconds, as far as that is listed or kept.
    case ago(Int64)

    /// The seconds before the end of what is listed; nil for all of it.
    package var seconds: Double? {
        switch self {
        case .now: 60
        case .start: nil
        case .ago(let seconds): Double(seconds)
        }
    }

    /// Nil for any other text, and for more than a day.
    package init?(_ text: String) {
        switch text {
        case "now": self = .now
        case "start": self = .start
        default:
            let suffix = "-ago"
            guard text.hasSuffix(suffix) else { return nil }
            let time = text.dropLast(suffix.count)
            let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600]
            let digits = time.dropLast()
            guard let last = time.last, let unit = units[last], digits.count < 7,
                digits.allSatisfy({ $0.isASCII && $0.isNumber }), let count = Int64(digits),
                (1...Self.longest).contains(count * unit)
            else { return nil }
            self = .ago(count * unit)
        }
    }

    private static let longest: Int64 = 86_400
}

extension RecordingStart: CustomStringConvertible {
    package var description: String {
        switch self {
        case .now: return "now"
        case .start: return "start"
        case .ago(let seconds):
            if seconds % 3600 == 0 {
                return "\(seconds / 3600)h-ago"
            }
            return seconds % 60 == 0 ? "\(seconds / 60)m-ago" : "\(seconds)s-ago"
        }
    }
}

extension RecordingStart: Codable {
    package init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        let text = try value.decode(String.self)
        guard let start = Self(text) else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "\"\(text)\" is not now, start, or a time such as 10m-ago")
        }
        self = start
    }

    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(description)
    }
}
