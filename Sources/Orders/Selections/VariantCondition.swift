package import SafeText

/// A condition that the variant must meet; as text `height<=1080`, `peak<=5M`, `codec=avc1`, `range=SDR`.
package struct VariantCondition: Equatable, Sendable {
    /// An attribute of a variant.
    package enum Attribute: String, CaseIterable, Sendable {
        /// BANDWIDTH and AVERAGE-BANDWIDTH, in bits per second.
        case peak, average
        /// RESOLUTION, in pixels.
        case width, height
        /// FRAME-RATE.
        case fps
        /// The most channels in the audio group.
        case channels
        /// VIDEO-RANGE.
        case range
        /// A codec's name without its profile, of CODECS.
        case codec
    }

    /// The relation between a variant's attribute and the value.
    package enum Comparison: String, CaseIterable, Sendable {
        case atMost = "<="
        case atLeast = ">="
        case isNot = "!="
        case below = "<"
        case above = ">"
        case equal = "="
    }

    /// The value to compare with.
    package enum Value: Equatable, Sendable {
        case number(Ratio)
        /// One of these.
        case words([String])
    }

    /// The fault of a text, as a sentence.
    package struct Mistake: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    package let attribute: Attribute
    package let comparison: Comparison
    package let value: Value
    /// The text as it was given, without blanks.
    package let text: String

    /// Reads a condition.
    package init(_ given: String) throws(Mistake) {
        let text = given.filter { $0 != " " }
        guard let start = text.firstIndex(where: { "<>=!".contains($0) }) else {
            throw Self.mistake(given, "it has no <=, >=, <, >, = or !=")
        }
        guard let attribute = Attribute(rawValue: text[..<start].lowercased()) else {
            let names = Attribute.allCases.map(\.rawValue).joined(separator: ", ")
            throw Self.mistake(given, "\"\(text[..<start])\" is not one of \(names)")
        }
        guard let comparison = Comparison.allCases.first(where: { text[start...].hasPrefix($0.rawValue) }) else {
            throw Self.mistake(given, "it has no <=, >=, <, >, = or !=")
        }
        let value = text[start...].dropFirst(comparison.rawValue.count)
        self.value = try Self.value(String(value), of: attribute, comparison: comparison, given: given)
        self.attribute = attribute
        self.comparison = comparison
        self.text = text
    }

    private static func value(
        _ text: String, of attribute: Attribute, comparison: Comparison, given: String
    ) throws(Mistake) -> Value {
        switch attribute {
        case .range, .codec:
            guard comparison == .equal || comparison == .isNot else {
                throw mistake(given, "\(attribute.rawValue) takes = or !=")
            }
            let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard words.allSatisfy({ !$0.isEmpty }) else { throw mistake(given, "its value is empty") }
            guard attribute == .range else { return .words(words) }
            let ranges = words.map { $0.uppercased() }
            guard ranges.allSatisfy(["SDR", "HLG", "PQ"].contains) else {
                throw mistake(given, "a range is SDR, HLG or PQ")
            }
            return .words(ranges)
        case .peak, .average:
            guard let bits = BitRateText.bits(text), bits >= BitRateText.least else {
                throw mistake(given, "\"\(text)\" is not a bit rate such as 5M, 800k or 265000")
            }
            return .number(Ratio(clamping: Double(bits)))
        case .width, .height, .fps, .channels:
            var digits = text[...]
            if attribute == .height, text.hasSuffix("p") {
                digits = text.dropLast()
            }
            let isWhole = attribute != .fps
            guard let number = Ratio(decimal: digits), number < 1e6, !isWhole || !digits.contains(".")
            else { throw mistake(given, "\"\(text)\" is not a number of \(attribute.unit)") }
            return .number(number)
        }
    }

    private static func mistake(_ given: String, _ reason: String) -> Mistake {
        Mistake(description: "\"\(given)\" is not a condition such as height<=1080: \(reason)")
    }
}

extension VariantCondition.Attribute {
    fileprivate var unit: String {
        switch self {
        case .fps: "frames a second"
        case .channels: "channels"
        default: "pixels"
        }
    }
}

extension VariantCondition: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            try self.init(try container.decode(String.self))
        } catch let mistake as Mistake {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: mistake.description)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
