/// A file of timed cues: WebVTT (W3C), or SubRip (`.srt`), which becomes WebVTT with the same times.
public struct CueFile: Equatable, Sendable {
    /// One cue.
    public struct Cue: Equatable, Sendable {
        /// Start and end in milliseconds.
        public let start, end: Int
        /// The lines of its text, as WebVTT has it.
        public let lines: [String]
        /// WebVTT's settings; empty for none.
        let settings: String
        let id: String?
    }

    /// The cues, in the order of the file.
    public let cues: [Cue]
    /// The encoding of the file.
    public let encoding: DecodedText.Encoding
    /// The comments, styles and regions of WebVTT, which stand before the cues.
    private let blocks: [[String]]

    /// Reads a file of either format: one that begins with `WEBVTT` is WebVTT. Each character is looked at a few times at most,
    /// whatever the file contains. Throws if it has no cue, with the line of a fault; `givenUp` once `mayGoOn` returns false.
    public init(_ bytes: [UInt8], while mayGoOn: () -> Bool = { true }) throws(SubtitleError) {
        let decoded = try DecodedText(bytes)
        encoding = decoded.encoding
        let lines = decoded.lines
        if lines.first?.hasPrefix("WEBVTT") ?? false {
            (cues, blocks) = try Self.webVTT(lines, mayGoOn)
        } else {
            cues = try Self.subRip(lines, mayGoOn)
            blocks = []
        }
        if cues.isEmpty {
            throw SubtitleError("the file has no cue")
        }
    }

    /// Writes WebVTT without a cue, for a segment that is not to be had.
    /// - Parameter neighbour: the beginning of another segment of the same subtitles: its X-TIMESTAMP-MAP is repeated, because players
    ///   take that of one segment for the ones behind it, too; nil without one.
    public static func withoutCues(timedAs neighbour: [UInt8]?) -> [UInt8] {
        let text = String(decoding: neighbour ?? [], as: UTF8.self)
        let head = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).prefix { !$0.isEmpty }
        let map = head.dropFirst().filter { $0.hasPrefix("X-TIMESTAMP-MAP=") }.prefix(1)
        let lines = ["WEBVTT"] + map.map(String.init)
        return Array((lines.joined(separator: "\n") + "\n\n").utf8)
    }

    /// The end of the last cue, in milliseconds.
    public var end: Int { cues.lazy.map(\.end).max() ?? 0 }

    /// Writes WebVTT.
    /// - Parameter start: the timestamp of the media that time 0 of the cues stands for, in ticks of 90 kHz: players of HLS
    ///   need it (RFC 8216 §3.5). Nil for a file that is not a part of HLS.
    public func webVTT(start: UInt64?) -> [UInt8] {
        var lines = ["WEBVTT"]
        if let start {
            lines.append("X-TIMESTAMP-MAP=MPEGTS:\(start),LOCAL:00:00:00.000")
        }
        for block in blocks {
            lines += [""] + block
        }
        for cue in cues {
            lines.append("")
            if let id = cue.id {
                lines.append(id)
            }
            var times = "\(CueTimes.text(cue.start)) --> \(CueTimes.text(cue.end))"
            if !cue.settings.isEmpty {
                times += " \(cue.settings)"
            }
            lines.append(times)
            lines += cue.lines
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    // MARK: WebVTT

    private static func webVTT(
        _ lines: [Substring], _ mayGoOn: () -> Bool
    ) throws(SubtitleError) -> ([Cue], [[String]]) {
        var cues: [Cue] = []
        var blocks: [[String]] = []
        var head: [Substring] = []
        var number = (lines.firstIndex { $0.isEmpty } ?? lines.count)

        while number < lines.count {
            let line = lines[number]
            guard mayGoOn() else { throw .givenUp }
            defer { number += 1 }
            if let times = try CueTimes(line, number: number + 1) {
                let text = lines[(number + 1)...].prefix { !$0.isEmpty }
                number += text.count
                cues.append(
                    Cue(
                        start: times.start, end: times.end, lines: text.map(String.init), settings: String(times.rest),
                        id: head.last.map(String.init)))
                head = []
            } else if line.isEmpty {
                if !head.isEmpty {
                    blocks.append(head.map(String.init))
                }
                head = []
            } else {
                head.append(line)
            }
        }

        // Players ignore a block of any other kind.
        return (cues, blocks.filter { ["STYLE", "REGION", "NOTE"].contains($0[0].prefix { !CueTimes.isBlank($0) }) })
    }

    // MARK: SubRip

    private static func subRip(_ lines: [Substring], _ mayGoOn: () -> Bool) throws(SubtitleError) -> [Cue] {
        var cues: [Cue] = []
        var open: (times: CueTimes, lines: [String])?

        func close(dropping number: Bool) {
            guard let (times, lines) = open else { return }
            var text = lines
            // The number of the next cue is the last line before its times.
            if number, let last = text.last, last.allSatisfy(\.isNumber) {
                text.removeLast()
            }
            text.removeAll { $0.isEmpty }
            guard !text.isEmpty else { return }
            let (plain, settings) = SubRipMarkup.converted(text)
            guard !plain.isEmpty else { return }
            cues.append(Cue(start: times.start, end: times.end, lines: plain, settings: settings, id: nil))
        }

        for (lineIndex, line) in lines.enumerated() {
            guard mayGoOn() else { throw .givenUp }
            let line = CueTimes.trimmed(line)
            if let times = try CueTimes(line, number: lineIndex + 1) {
                close(dropping: true)
                open = (times, [])
            } else if open != nil {
                open?.lines.append(String(line))
            } else if !line.isEmpty, !line.allSatisfy(\.isNumber) {
                throw SubtitleError(
                    "\"\(line.prefix(60))\" is neither a number nor a pair of times", line: lineIndex + 1)
            }
        }

        close(dropping: false)
        return cues
    }
}

/// Converts the markup of SubRip, which no standard defines, to that of WebVTT.
enum SubRipMarkup {
    /// Tags that both have.
    private static let tags = ["b", "i", "u"]

    /// Converts the lines of a cue. Returns WebVTT's settings as well: `{\an8}` puts a cue to the top. Lines of which nothing is left
    /// are left out: an empty one would end the cue.
    static func converted(_ lines: [String]) -> (lines: [String], settings: String) {
        var settings = ""
        let text = lines.map { line in
            var output = ""
            var rest = line[...]
            var braces = NextCharacter("}")
            var angles = NextCharacter(">")
            while let character = rest.first {
                if character == "{", rest.dropFirst().first == "\\", let end = braces.index(in: rest) {
                    if ["{\\an7", "{\\an8", "{\\an9"].contains(where: rest[..<end].hasPrefix) {
                        settings = "line:0"
                    }
                    rest = rest[rest.index(after: end)...]
                } else if character == "<", let end = angles.index(in: rest) {
                    output += tag(rest[...end])
                    rest = rest[rest.index(after: end)...]
                } else {
                    output += escaped(character, rest)
                    rest.removeFirst()
                }
            }
            return output
        }
        return (text.filter { !$0.isEmpty }, settings)
    }

    /// Finds a character from an index on, for indices that only move forward. A line is searched once, also if it has many
    /// beginnings of tags, and no end.
    struct NextCharacter {
        private let character: Character
        private var known: Substring.Index?
        private var hasNoMore = false
        private(set) var searches = 0

        init(_ character: Character) { self.character = character }

        /// The index of the first such character; nil if the rest has none.
        mutating func index(in rest: Substring) -> Substring.Index? {
            if hasNoMore {
                return nil
            }
            if let known, known >= rest.startIndex {
                return known
            }
            searches += 1
            known = rest.firstIndex(of: character)
            hasNoMore = known == nil
            return known
        }
    }

    /// The tag if WebVTT has it, nothing for a tag of SubRip's own, and the escaped text of anything else.
    private static func tag(_ text: Substring) -> String {
        let inner = text.dropFirst().dropLast()
        let name = inner.drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }.lowercased()
        if tags.contains(name) {
            guard inner.hasPrefix("/") else { return "<\(name)>" }
            return "</\(name)>"
        }
        if name == "font" || name == "s" {
            return ""
        }
        return "&lt;" + inner + "&gt;"
    }

    private static func escaped(_ character: Character, _ rest: Substring) -> String {
        switch character {
        case "<": return "&lt;"
        case "&":
            let isEscape = rest.hasPrefix("&amp;") || rest.hasPrefix("&lt;") || rest.hasPrefix("&gt;")
            return isEscape ? "&" : "&amp;"
        default: return String(character)
        }
    }
}
