/// The times of a cue in milliseconds, which are exact in SubRip and WebVTT.
public struct CueTimes: Equatable, Sendable {
    /// Start and end.
    public let start, end: Int
    /// The text behind the end: WebVTT's settings.
    let rest: Substring

    /// Reads a line `00:00:01,000 --> 00:00:03,500`; nil if the line has no arrow.
    init?(_ line: Substring, number: Int) throws(SubtitleError) {
        guard let arrow = line.firstRange(of: "-->") else { return nil }
        let after = line[arrow.upperBound...].drop(while: Self.isBlank)
        let endText = after.prefix { !Self.isBlank($0) }
        guard let start = Self.milliseconds(Self.trimmed(line[..<arrow.lowerBound])),
            let end = Self.milliseconds(endText)
        else {
            throw SubtitleError(
                "\"\(line.prefix(60))\" is no pair of times such as 00:00:01,000 --> 00:00:03,500", line: number)
        }
        guard end >= start else { throw SubtitleError("the cue ends before it begins", line: number) }
        self.start = start
        self.end = end
        rest = Self.trimmed(after[endText.endIndex...])
    }

    /// Reads `h:mm:ss,mmm`, with optional hours, a comma or a point, and up to three digits behind it.
    static func milliseconds(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let last = parts.last else { return nil }
        let second = last.split(whereSeparator: { $0 == "," || $0 == "." })
        guard (1...2).contains(second.count), let seconds = number(second[0]) else { return nil }
        var total = seconds
        for (position, part) in parts.dropLast().reversed().enumerated() {
            guard let value = number(part) else { return nil }
            let unit = position == 0 ? 60 : 3600
            total += value * unit
        }
        let fraction = second.dropFirst().first ?? "0"
        guard fraction.utf8.count <= 3, let digits = number(fraction) else { return nil }
        return total * 1000 + digits * [1, 100, 10, 1][fraction.utf8.count]
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...6).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// Writes a time as WebVTT has it: `00:00:01.000`.
    public static func text(_ milliseconds: Int) -> String {
        func digits(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        let seconds = milliseconds / 1000
        return "\(digits(seconds / 3600, 2)):\(digits(seconds / 60 % 60, 2)):\(digits(seconds % 60, 2))"
            + ".\(digits(milliseconds % 1000, 3))"
    }

    static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }

    static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop(while: isBlank)
        while let last = text.last, isBlank(last) {
            text.removeLast()
        }
        return text
    }
}
