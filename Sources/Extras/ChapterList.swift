import FoundationEssentials
package import HLS
import SafeText
package import SegmentFormat

/// The chapters of a film, as Apple's players read them from JSON. Pure.
package struct ChapterList: Equatable, Sendable {
    package struct Chapter: Equatable, Sendable {
        package let start: MediaDuration
        /// Nil if it lasts until the next one, or to the end.
        package let duration: MediaDuration?
        package let title: String
    }

    /// In the order of time; never empty.
    package let chapters: [Chapter]
    /// The JSON as given; nil if the chapters were given otherwise, and JSON is made of them.
    private let original: [UInt8]?

    /// No chapter of a film of unknown length ends later: thirty years.
    private static let farthest = MediaDuration(seconds: Seconds.longest.value)
    /// The most chapters of a film.
    private static let most = 10_000

    /// Reads Apple's JSON (an array of objects with `start-time`, `duration` and `titles`), that of yt-dlp (`start_time`,
    /// `end_time`, `title`), or WebVTT with a title in each cue. Throws `givenUp` once `mayGoOn` returns false.
    package init(_ bytes: [UInt8], while mayGoOn: () -> Bool = { true }) throws(SubtitleError) {
        let decoded = try DecodedText(bytes)
        let first = decoded.text.first { !$0.isWhitespace }
        guard first == "[" || first == "{" else {
            let file = try CueFile(bytes, while: mayGoOn)
            original = nil
            chapters = file.cues.map {
                Chapter(
                    start: MediaDuration(seconds: Double($0.start) / 1000),
                    duration: MediaDuration(seconds: Double($0.end - $0.start) / 1000),
                    title: $0.lines.joined(separator: " "))
            }.sorted { $0.start < $1.start }
            try Self.check(chapters)
            return
        }
        let entries = try Self.entries(Array(decoded.text.utf8))
        let isApples = entries.allSatisfy { $0.appleStart != nil }
        if isApples, decoded.encoding == .utf8 {
            original = Array(decoded.text.utf8)
        } else {
            original = nil
        }
        var chapters: [Chapter] = []
        for (index, entry) in entries.enumerated() {
            guard mayGoOn() else { throw .givenUp }
            guard let start = (entry.appleStart ?? entry.start)?.seconds, start < .longest else {
                throw SubtitleError("chapter \(index + 1) has no start-time in seconds")
            }
            guard !entry.isReversed(from: start) else {
                throw SubtitleError("chapter \(index + 1) ends before it begins")
            }
            let duration = entry.length(from: start).map { MediaDuration(seconds: $0) }
            let given = entry.titles?.first?.title ?? entry.title
            chapters.append(
                Chapter(
                    start: MediaDuration(seconds: start.value), duration: duration, title: given ?? "\(index + 1)"))
        }
        self.chapters = chapters.sorted { $0.start < $1.start }
        try Self.check(chapters)
    }

    private static func check(_ chapters: [Chapter]) throws(SubtitleError) {
        guard !chapters.isEmpty else { throw SubtitleError("the file has no chapter") }
        guard chapters.count <= most else { throw SubtitleError("the file has more than \(most) chapters") }
    }

    private struct Entry: Decodable {
        struct Title: Decodable { let title: String }

        struct Time: Decodable {
            /// Nil for a negative number.
            let seconds: Seconds?

            init(from decoder: any Decoder) throws {
                seconds = Seconds(try decoder.singleValueContainer().decode(Double.self))
            }
        }

        let appleStart, start, end, duration: Time?
        let titles: [Title]?
        let title: String?

        enum CodingKeys: String, CodingKey {
            case appleStart = "start-time"
            case start = "start_time"
            case end = "end_time"
            case duration, titles, title
        }

        /// True if its duration is negative or, without one, its end is before its start.
        func isReversed(from start: Seconds) -> Bool {
            if let duration {
                return duration.seconds == nil
            }
            guard let end else { return false }
            return end.seconds ?? 0 < start
        }

        /// Its duration in seconds; nil if it has neither a duration nor an end.
        func length(from start: Seconds) -> Double? {
            if let length = duration?.seconds {
                return length.value
            }
            guard let end else { return nil }
            return (end.seconds ?? 0).value - start.value
        }
    }

    private static func entries(_ bytes: [UInt8]) throws(SubtitleError) -> [Entry] {
        struct Information: Decodable { let chapters: [Entry] }
        let decoder = JSONDecoder()
        let data = Data(bytes)
        do {
            if let information = try? decoder.decode(Information.self, from: data) {
                return information.chapters
            }
            return try decoder.decode([Entry].self, from: data)
        } catch {
            throw SubtitleError("it is no list of chapters in JSON: objects with start-time, duration and titles")
        }
    }

    /// The chapters in JSON, for EXT-X-SESSION-DATA with the DATA-ID `com.apple.hls.chapters`.
    /// - Parameter length: of the film in seconds; nil if it is not known.
    package func json(language: String?, length: Double?) -> [UInt8] {
        if let original {
            return original
        }
        struct Title: Encodable { let language, title: String }
        struct Entry: Encodable {
            let chapter: Int
            let start: Double
            let duration: Double?
            let titles: [Title]

            enum CodingKeys: String, CodingKey {
                case start = "start-time"
                case chapter, duration, titles
            }
        }
        let entries = spans(length: length).enumerated().map { index, span in
            Entry(
                chapter: index + 1, start: span.start.seconds, duration: span.end?.distance(from: span.start),
                titles: [Title(language: language ?? "und", title: span.title)])
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and finite numbers can always be encoded.
        guard let data = try? encoder.encode(entries) else { return [] }
        return Array(data)
    }

    /// The chapters as a WebVTT file with a title in each cue.
    package func webVTT(length: Double?) -> [UInt8] {
        var lines = ["WEBVTT"]
        for (index, span) in spans(length: length).enumerated() {
            func time(_ time: MediaDuration) -> String { CueTimes.text(time.milliseconds) }
            let title = span.title.split(whereSeparator: \.isNewline).joined(separator: " ")
            lines += ["", "\(index + 1)", "\(time(span.start)) --> \(time(span.end ?? span.start + 1))"]
            lines.append(
                title.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("-->", with: "--&gt;"))
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    /// The chapters with their ends: each lasts until the next one unless it has a duration, and none longer than the film, which
    /// ffmpeg refuses in a file.
    package func spans(length: Double?) -> [(start: MediaDuration, end: MediaDuration?, title: String)] {
        let last = length.map { MediaDuration(seconds: min($0, Self.farthest.seconds)) }
        return chapters.enumerated().map { index, chapter in
            let latest = max(last ?? Self.farthest, chapter.start)
            let end: MediaDuration?
            if let duration = chapter.duration {
                end = chapter.start + duration
            } else if index + 1 < chapters.count {
                end = chapters[index + 1].start
            } else {
                end = last.map { max($0, chapter.start) }
            }
            return (chapter.start, end.map { min($0, latest) }, chapter.title)
        }
    }
}
