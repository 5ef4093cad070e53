import Assets
package import FoundationEssentials

/// The name and the title of a recording, with the local time of its beginning. Pure.
package struct RecordingName: Equatable, Sendable {
    /// `2026-11-28-2015`.
    private let stamp: String
    /// `2026-11-28 20:15`.
    private let words: String

    /// - Parameter begin: the beginning, in seconds since 1970.
    package init(begin: Int64, in zone: TimeZone) {
        let day = LocalDate(at: begin, in: zone)
        let time = LocalTime(at: begin, in: zone)
        stamp = "\(day)-\(twoDigits(time.hour))\(twoDigits(time.minute))"
        words = "\(day) \(time)"
    }

    /// The name: the channel's, shortened if both would be too long, and the time. Where two meet, as in the hour that a clock shows
    /// twice, the later one gets `-2`.
    package func name(ofChannel channel: String, isTaken: (String) -> Bool) -> String {
        let room = AssetNaming.longest - stamp.utf8.count - Self.number
        let beginning = AssetNaming.slug(channel.prefix(max(room, 1)))
        return AssetNaming.unique("\(beginning)-\(stamp)", isTaken: isTaken)
    }

    /// The title: the channel's, and the time.
    package func title(ofChannel channel: String) -> String { "\(channel) \(words)" }

    /// The length of the dash before the time, and of a number behind it.
    private static let number = 1 + "-999".utf8.count
}
