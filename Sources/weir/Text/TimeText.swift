import ArgumentParser
import Daemon
import Foundation

/// Parses and formats durations and times.
enum TimeText {
    /// The seconds of a duration such as `30d`; nil for invalid text, and for more than a hundred years.
    static func span(_ text: String) -> Int? { TimeSpan.seconds(text) }

    /// Value of `--expires` in seconds since 1970; nil for never.
    static func expiry(_ text: String, now: Date) throws -> Int? {
        if text == "never" {
            return nil
        }
        if let span = span(text) {
            return Int(now.timeIntervalSince1970) + span
        }
        guard let instant = instant(text) else {
            throw ValidationError(
                "--expires \"\(text)\" is not a time such as 30d, 48h, 2026-12-24 or 2026-12-24T18:00, or never")
        }
        return instant
    }

    /// The help of an option with such a time.
    ///
    /// - Parameter words: the purpose of the time, with a capital.
    static func expiryHelp(_ words: String) -> ArgumentHelp {
        ArgumentHelp(
            "\(words): in 30d (s, m, h, d or w), at the end of 2026-12-24, at 2026-12-24T18:00, or never.",
            valueName: "time")
    }

    /// Parses `2026-12-24`, which means the end of that day, and `2026-12-24T18:00`, both in local time, or in UTC with
    /// a trailing `Z`. Returns seconds since 1970.
    static func instant(_ text: String, zone: TimeZone = .current) -> Int? {
        let isUniversal = text.hasSuffix("Z")
        var digits = text[...]
        if isUniversal {
            digits.removeLast()
        }
        let parts = digits.split(separator: "T", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let day = numbers(parts[0], separatedBy: "-", digits: [4, 2, 2]),
            !isUniversal || parts.count == 2
        else { return nil }

        var time = [0, 0, 0]
        if parts.count == 2 {
            let short = numbers(parts[1], separatedBy: ":", digits: [2, 2])
            guard let clock = short ?? numbers(parts[1], separatedBy: ":", digits: [2, 2, 2]) else { return nil }
            time = clock + [Int](repeating: 0, count: 3 - clock.count)
        }

        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        if isUniversal, let universal = TimeZone(secondsFromGMT: 0) {
            calendar.timeZone = universal
        }

        let components = DateComponents(
            year: day[0], month: day[1], day: day[2], hour: time[0], minute: time[1], second: time[2])
        // A calendar would convert 30 February to 2 March.
        guard components.isValidDate(in: calendar), let date = calendar.date(from: components) else { return nil }
        guard parts.count == 1 else { return Int(date.timeIntervalSince1970) }
        return calendar.date(byAdding: .day, value: 1, to: date).map { Int($0.timeIntervalSince1970) }
    }

    /// Parses numbers with fixed digit counts and a separator.
    private static func numbers(
        _ text: Substring, separatedBy sign: Character, digits: [Int]
    ) -> [Int]? {
        let parts = text.split(separator: sign, omittingEmptySubsequences: false)
        guard parts.map(\.count) == digits, parts.joined().allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return parts.compactMap { Int($0) }
    }

    /// A local time: `2026-12-24 18:00`.
    static func words(_ seconds: Int, zone: TimeZone = .current) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let date = calendar.dateComponents(
            [.year, .month, .day, .hour, .minute], from: Date(timeIntervalSince1970: Double(seconds)))
        let two: (Int?) -> String = { Format.twoDigits($0 ?? 0) }
        return "\(date.year ?? 0)-\(two(date.month))-\(two(date.day)) \(two(date.hour)):\(two(date.minute))"
    }

    /// The day of a local time: `2026-12-24`.
    static func day(_ seconds: Int, zone: TimeZone = .current) -> String {
        String(words(seconds, zone: zone).prefix(10))
    }

    /// A duration in the largest unit without a remainder, in days from two days on: `48h`, `7d`, `90m`.
    static func words(ofSpan seconds: Int) -> String {
        for (unit, length) in [("d", 86_400), ("h", 3600), ("m", 60)] where seconds % length == 0 {
            if unit != "d" || seconds > 2 * length {
                return "\(seconds / length)\(unit)"
            }
        }
        return "\(seconds)s"
    }
}
