import Foundation

/// Subtitles as SubRip, made from a WebVTT file of `JoinedSubtitles`. Pure.
///
/// Cues keep their text with italic, bold and underlined letters. Positions, voices, classes and times within a cue are dropped:
/// SubRip has none.
struct SubRip {
    private(set) var text: [UInt8] = []
    private(set) var count = 0

    init(webVTT bytes: [UInt8]) {
        var timing: String?
        var lines: [String] = []
        // The last cue ends as one before an empty line does.
        let all = String(decoding: bytes, as: UTF8.self) + "\n\n"
        for line in all.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                add(timing, lines)
                timing = nil
                lines = []
            } else if timing == nil {
                timing = Self.timing(line)
            } else {
                lines.append(Self.plain(line))
            }
        }
    }

    private mutating func add(_ timing: String?, _ lines: [String]) {
        // An empty line would end the cue for a reader.
        let shown = lines.filter { !$0.isEmpty }
        guard let timing, !shown.isEmpty else { return }
        count += 1
        text += Array("\(count)\n\(timing)\n\(shown.joined(separator: "\n"))\n\n".utf8)
    }

    /// The line of times, without settings and with a comma before the milliseconds; nil for any other line.
    private static func timing(_ line: Substring) -> String? {
        let words = line.split(separator: " ")
        guard words.count >= 3, words[1] == "-->" else { return nil }
        return "\(words[0]) --> \(words[2])".replacing(".", with: ",")
    }

    /// A line of a cue without the tags that SubRip lacks, and with the letters that the entities stand for.
    private static func plain(_ line: Substring) -> String {
        var plain = ""
        var rest = line
        while let start = rest.firstIndex(of: "<") {
            plain += rest[..<start]
            guard let end = rest[start...].firstIndex(of: ">") else {
                rest = rest[start...].dropFirst()
                break
            }
            let tag = rest[rest.index(after: start)..<end]
            if ["i", "b", "u", "/i", "/b", "/u"].contains(tag) {
                plain += "<\(tag)>"
            }
            rest = rest[rest.index(after: end)...]
        }
        plain += rest
        for (entity, letter) in entities {
            plain = plain.replacing(entity, with: letter)
        }
        return plain
    }

    /// "&amp;" is the last, so that what it makes is not read again.
    private static let entities = [
        ("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", "\u{A0}"), ("&lrm;", "\u{200E}"), ("&rlm;", "\u{200F}"),
        ("&amp;", "&"),
    ]
}
