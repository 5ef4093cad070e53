import SafeText

/// Joins the WebVTT segments of a rendition (RFC 8216 §3.5) to one file, with times relative to the start of the media.
/// Pure.
///
/// A cue that spans several segments is repeated in each of them, and is written once. Comments, regions and styles are
/// dropped.
struct JoinedSubtitles {
    private typealias Block = ArraySlice<Substring>

    private let start: Double
    /// The cues of the segment that are not added yet, and its distance from the start.
    private var blocks: ArraySlice<Block> = []
    private var offset = 0.0
    private var seen: Set<String> = []
    private var cues: [String] = []

    /// - Parameter start: the start of the media on its own timeline, in seconds.
    init(start: Double) { self.start = start }

    var text: [UInt8] { Array((["WEBVTT\n"] + cues).joined(separator: "\n").utf8) }

    /// The time of a segment's first cue times on the media's timeline, in seconds; 0 if it does not give it.
    static func offset(of segment: [UInt8]) -> Double {
        String(decoding: segment, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline
        ).prefix { !$0.isEmpty }.lazy.compactMap(map).first ?? 0
    }

    mutating func add(_ segment: [UInt8]) {
        begin(segment)
        while addNext(.max) {}
    }

    /// Begins a segment, whose cues `addNext` adds.
    mutating func begin(_ segment: [UInt8]) {
        let lines = String(decoding: segment, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        offset = lines.prefix { !$0.isEmpty }.lazy.compactMap(Self.map).first.map { $0 - start } ?? 0
        blocks = lines.split(whereSeparator: \.isEmpty)[...]
    }

    /// Adds the next cues of the segment, up to `count`. Returns false if there is none left.
    mutating func addNext(_ count: Int) -> Bool {
        guard !blocks.isEmpty else { return false }
        for block in blocks.prefix(count) {
            add(block)
        }
        blocks = blocks.dropFirst(count)
        return true
    }

    private mutating func add(_ block: Block) {
        guard let line = block.firstIndex(where: { $0.contains("-->") }),
            let timing = Self.shifted(block[line], by: offset)
        else { return }
        let cue = ([timing] + block[(line + 1)...].map(String.init)).map { $0 + "\n" }.joined()
        if seen.insert(cue).inserted {
            cues.append(cue)
        }
    }

    /// The offset from cue times to the media's timeline, in seconds, by X-TIMESTAMP-MAP.
    private static func map(_ line: Substring) -> Double? {
        guard line.hasPrefix("X-TIMESTAMP-MAP=") else { return nil }
        var ticks: Ratio?
        var local: Seconds?
        for part in line.dropFirst("X-TIMESTAMP-MAP=".count).split(separator: ",") {
            if part.hasPrefix("MPEGTS:") {
                ticks = Ratio(decimal: part.dropFirst("MPEGTS:".count))
            }
            if part.hasPrefix("LOCAL:") {
                local = seconds(part.dropFirst("LOCAL:".count))
            }
        }
        guard let ticks, let local else { return nil }
        return ticks.value / 90_000 - local.value
    }

    /// Returns nil for an invalid line, and for a cue that ends before the media begins.
    private static func shifted(_ line: Substring, by offset: Double) -> String? {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.count >= 3, words[1] == "-->", let from = seconds(words[0]), let to = seconds(words[2]),
            let end = Seconds(to.value + offset), end > 0
        else { return nil }
        let start = Seconds(clamping: from.value + offset)
        return ([clock(start), "-->", clock(end)] + words.dropFirst(3).map(String.init)).joined(separator: " ")
    }

    /// Parses `hh:mm:ss.ttt`, with optional hours, into seconds.
    private static func seconds(_ text: Substring) -> Seconds? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count) else { return nil }
        var seconds = 0.0
        for part in parts {
            guard let number = Seconds(decimal: part) else { return nil }
            seconds = seconds * 60 + number.value
        }
        return Seconds(clamping: seconds)
    }

    private static func clock(_ seconds: Seconds) -> String {
        let all = seconds.milliseconds
        func digits(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        return "\(digits(all / 3_600_000, 2)):\(digits(all / 60_000 % 60, 2)):\(digits(all / 1000 % 60, 2))"
            + ".\(digits(all % 1000, 3))"
    }
}
