import Foundation

/// The ASCII form of a host name in the letters of any language: `bücher.example` is `xn--bcher-kva.example`.
///
/// Names are mapped as by UTS #46 without its transitional rules, and encoded with Punycode (RFC 3492). The DNS, TLS and
/// cookies know the ASCII form only, and hosts are compared in it.
public enum InternationalName {
    /// Returns the ASCII form in lower case; nil for a text that is not a host name.
    public static func ascii(_ name: some StringProtocol) -> String? {
        guard !name.utf8.allSatisfy({ $0 < 0x80 }) else { return asciiName(name.lowercased()) }
        // Compatibility forms are replaced first: they contain full-width letters, dots and slashes.
        let mapped = String(name).precomposedStringWithCompatibilityMapping.lowercased()
            .precomposedStringWithCompatibilityMapping
        let labels = mapped.unicodeScalars.split(omittingEmptySubsequences: false) { dots.contains($0) }
        var encoded: [String] = []
        for label in labels {
            guard let label = ascii(label: label.filter { !$0.isIgnored }) else { return nil }
            encoded.append(label)
        }
        return asciiName(encoded.joined(separator: "."))
    }

    /// The full stop and the marks that input methods write in its place.
    private static let dots: Set<Unicode.Scalar> = [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"]
    /// RFC 1035 §2.3.4.
    private static let longestName = 253
    private static let longestLabel = 63

    private static func asciiName(_ name: String) -> String? {
        let isName = name.utf8.allSatisfy { $0.isNameLetter || "-_.".utf8.contains($0) }
        guard isName, (1...longestName).contains(name.utf8.count), name.utf8.first != UInt8(ascii: ".") else {
            return nil
        }
        return name
    }

    private static func ascii(label: some Collection<Unicode.Scalar>) -> String? {
        if label.allSatisfy(\.isASCII) {
            return String(String.UnicodeScalarView(label))
        }
        // A mark belongs to a letter before it, and a label that looks like an encoded one may not be encoded again.
        guard label.allSatisfy(\.isOfName), let first = label.first, !first.isMark, !first.properties.isJoinControl,
            !label.starts(with: "xn--".unicodeScalars), let code = Punycode.encode(Array(label))
        else { return nil }
        let text = "xn--" + code
        guard text.utf8.count <= longestLabel else { return nil }
        return text
    }
}

extension UInt8 {
    fileprivate var isNameLetter: Bool { (0x30...0x39).contains(self) || (0x61...0x7A).contains(self) }
}

extension Unicode.Scalar {
    /// True for a character that is dropped: a soft hyphen, a joiner without a width, or the variation selector of an emoji.
    fileprivate var isIgnored: Bool {
        [0xAD, 0x200B, 0x2060, 0xFEFF].contains(value) || (0xFE00...0xFE0F).contains(value)
    }

    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// True if a host name can contain the character. ASCII is checked once the name is complete.
    fileprivate var isOfName: Bool {
        if isASCII || isMark || properties.isJoinControl {
            return true
        }
        switch properties.generalCategory {
        case .lowercaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber, .otherNumber: return true
        // Emoji, but not the character that stands for broken UTF-8.
        case .otherSymbol: return value != 0xFFFD
        // Marks that Catalan, Greek, Hebrew and Japanese write within words (RFC 5892 appendix A).
        default: return [0xB7, 0x375, 0x5F3, 0x5F4, 0x30FB].contains(value)
        }
    }
}

/// Punycode (RFC 3492).
enum Punycode {
    /// Encodes a label; nil if a number overflows.
    static func encode(_ label: [Unicode.Scalar]) -> String? {
        var output = label.filter(\.isASCII).map { UInt8($0.value) }
        let basicCount = output.count
        if basicCount > 0 {
            output.append(UInt8(ascii: "-"))
        }

        var bias = 72
        var delta = 0
        var next = 0x80
        var done = basicCount

        while done < label.count {
            guard let least = label.lazy.map({ Int($0.value) }).filter({ $0 >= next }).min() else { return nil }
            let (product, overflows) = (least - next).multipliedReportingOverflow(by: done + 1)
            guard !overflows else { return nil }
            delta = delta + product
            next = least
            for scalar in label {
                if scalar.value < next {
                    delta += 1
                }
                guard scalar.value == next else { continue }
                append(delta, bias, to: &output)
                bias = adapted(delta, count: done + 1, isFirst: done == basicCount)
                delta = 0
                done = done + 1
            }
            delta = delta + 1
            next = next + 1
        }

        return String(decoding: output, as: UTF8.self)
    }

    private static let base = 36
    private static let smallest = 1
    private static let largest = 26

    /// Appends a number in variable length (§3.3).
    private static func append(_ number: Int, _ bias: Int, to output: inout [UInt8]) {
        let digits = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var rest = number
        var position = base
        while true {
            let threshold = min(max(position - bias, smallest), largest)
            if rest < threshold {
                break
            }
            output.append(digits[threshold + (rest - threshold) % (base - threshold)])
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digits[rest])
    }

    /// The next bias (§3.4).
    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var rest = delta / 2
        if isFirst {
            rest = delta / 700
        }
        rest += rest / count
        var steps = 0
        while rest > (base - smallest) * largest / 2 {
            rest /= base - smallest
            steps += base
        }
        return steps + (base - smallest + 1) * rest / (rest + 38)
    }
}
