import SafeText

/// Joins the WebVTT segments of a rendition (RFC 8216 §3.5) to one file, with times relative to the start of the media.
/// Pure.
///
/// A cue that spans several segments is repeated in each of them, and is written once. Comments, regions and styles are
/// dropped. Works on bytes and line by line, in time and memory that grow with the segments alone.
struct JoinedSubtitles: Sendable {
    private typealias Line = ArraySlice<UInt8>

    /// The state of a block, which ends at an empty line.
    private enum Block {
        /// No line with times has come.
        case begun
        /// `cue` has what has come of it.
        case cue
        case dropped
    }

    private let start: Double
    /// The part of the segment that is not added yet, and the segment's distance from the start, in seconds.
    private var rest: Line = []
    private var offset = 0.0
    private var block = Block.begun
    private var cue: [UInt8] = []
    /// Where the cues are in `text`, by their hash: a copy of each would be hundreds of thousands of small pieces of memory, which the
    /// next thread that needs a large one would have to join.
    private var written: [Int: Range<Int>] = [:]
    private(set) var text = Array("WEBVTT\n".utf8)

    /// - Parameter start: the start of the media on its own timeline, in seconds.
    init(start: Double) { self.start = start }

    /// The time of a segment's first cue times on the media's timeline, in seconds; 0 if it does not give it.
    static func offset(of segment: [UInt8]) -> Double { map(in: segment[...]) ?? 0 }

    mutating func add(_ segment: [UInt8]) {
        begin(segment)
        while addNext(.max) {}
    }

    /// Begins a segment, whose lines `addNext` adds.
    mutating func begin(_ segment: [UInt8]) {
        // Invalid UTF-8 is repaired: programs that read the file refuse it.
        rest = Array(String(decoding: segment, as: UTF8.self).utf8)[...]
        offset = 0
        if let time = Self.map(in: rest) {
            offset = time - start
        }
    }

    /// Adds the next lines of the segment, up to `count`. Returns false once none is left.
    mutating func addNext(_ count: Int) -> Bool {
        var left = count
        while left > 0 {
            guard let line = Self.nextLine(of: &rest) else {
                endBlock()
                return false
            }
            add(line)
            left -= 1
        }
        return true
    }

    private mutating func add(_ line: Line) {
        guard !line.isEmpty else { return endBlock() }
        switch block {
        case .begun:
            guard Self.hasArrow(line) else { return }
            guard let timing = Self.shifted(line, by: offset) else {
                block = .dropped
                return
            }
            block = .cue
            cue += timing.utf8
            cue.append(Self.lineFeed)
        case .cue:
            cue += line
            cue.append(Self.lineFeed)
        case .dropped: break
        }
    }

    private mutating func endBlock() {
        if case .cue = block {
            writeUnlessWritten()
        }
        block = .begun
        cue.removeAll(keepingCapacity: true)
    }

    private mutating func writeUnlessWritten() {
        var hasher = Hasher()
        cue.withUnsafeBytes { hasher.combine(bytes: $0) }
        let hash = hasher.finalize()
        if let range = written[hash], text[range].elementsEqual(cue) {
            return
        }
        text.append(Self.lineFeed)
        written[hash] = text.count..<text.count + cue.count
        text += cue
    }

    // MARK: Lines

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// Removes the first line from `text`, and returns it without its end: LF, CR or both. Nil without a line.
    private static func nextLine(of text: inout Line) -> Line? {
        guard !text.isEmpty else { return nil }
        let end = text.firstIndex { $0 == lineFeed || $0 == carriageReturn } ?? text.endIndex
        let line = text[..<end]
        var next = min(end + 1, text.endIndex)
        if end < text.endIndex, text[end] == carriageReturn, next < text.endIndex, text[next] == lineFeed {
            next += 1
        }
        text = text[next...]
        return line
    }

    private static func hasArrow(_ line: Line) -> Bool {
        var hyphens = 0
        for byte in line {
            if byte == UInt8(ascii: "-") {
                hyphens += 1
            } else if byte == UInt8(ascii: ">"), hyphens >= 2 {
                return true
            } else {
                hyphens = 0
            }
        }
        return false
    }

    /// The first X-TIMESTAMP-MAP of a segment's head.
    private static func map(in segment: Line) -> Double? {
        var rest = segment
        while let line = nextLine(of: &rest), !line.isEmpty {
            if line.starts(with: mapHead), let map = map(String(decoding: line.dropFirst(mapHead.count), as: UTF8.self))
            {
                return map
            }
        }
        return nil
    }

    private static let mapHead = Array("X-TIMESTAMP-MAP=".utf8)

    /// The offset from cue times to the media's timeline, in seconds, by X-TIMESTAMP-MAP.
    private static func map(_ value: String) -> Double? {
        var ticks: Ratio?
        var local: Seconds?
        for part in value.split(separator: ",") {
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
    private static func shifted(_ line: Line, by offset: Double) -> String? {
        let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            .map { Substring(decoding: $0, as: UTF8.self) }
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
