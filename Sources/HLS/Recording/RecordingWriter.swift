/// Writes a recording's text: an append-only EVENT playlist (RFC 8216 §4.3.3.5) with new names for URIs.
///
/// Each call returns the next lines: complete segments without low-latency tags and byte ranges. Keys, initialization sections
/// and bit rates are written when they change. The numbers come from `LiveNumbering` and cannot overflow.
public struct RecordingWriter: Sendable {
    /// EXT-X-TARGETDURATION as last written, in seconds.
    public private(set) var targetDuration: Int
    private var keys: [KeyLine] = []
    private var map: String?
    private var bitRate = 0
    private var dateRanges: Set<String> = []

    private struct KeyLine: Equatable, Sendable {
        let text, keyFormat: String
    }

    /// Comment before the first segment after the origin restarted its numbers. Players ignore it.
    static let shiftMark = "#WEIR-SHIFT:"
    /// Starts a recording with a window.
    public init(beginning window: MediaPlaylist) { targetDuration = max(window.targetDuration ?? 2, 1) }

    /// Continues a recording.
    public init(behind recorded: MediaPlaylist) {
        targetDuration = max(recorded.targetDuration ?? 2, 1)
        dateRanges = Set(recorded.dateRanges.map { recorded.text.content($0.line) })
        guard let last = recorded.segments.last else { return }
        keys = last.keys.map { KeyLine(text: recorded.text.content($0.line), keyFormat: $0.keyFormat) }
        map = last.map?.uri
        bitRate = Int(last.record.bitRate)
    }

    // MARK: Header and end

    /// Returns the first lines of a recording. Version 7 covers every tag that is written here, and has no variables.
    /// - Parameter number: the media sequence number of the first recorded segment; nil for the first one of the window.
    public func header(of window: MediaPlaylist, from number: Int? = nil) -> [UInt8] {
        let first = window.firstSequenceNumber
        var start = first
        if let number {
            start = SequenceNumber(number)
        }
        var lines = [
            Tag.m3u.rawValue, "\(Tag.version.rawValue):7", Self.target(targetDuration),
            "\(Tag.mediaSequence.rawValue):\(start)",
        ]
        let discontinuities = window.discontinuitySequence + window.discontinuities(upTo: start - first - 1)
        if discontinuities > 0 {
            lines.append("\(Tag.discontinuitySequence.rawValue):\(discontinuities)")
        }
        lines.append("\(Tag.playlistType.rawValue):EVENT")
        if window.hasIndependentSegments {
            lines.append(Tag.independentSegments.rawValue)
        }
        if window.isIFramesOnly {
            lines.append(Tag.iFramesOnly.rawValue)
        }
        return Self.bytes(lines)
    }

    /// The last line of a recording.
    public var end: [UInt8] { Self.bytes([Tag.endList.rawValue]) }

    /// Returns the whole text with a higher target duration, if the window needs one; otherwise nil.
    public mutating func raised(_ text: [UInt8], for window: MediaPlaylist) -> [UInt8]? {
        guard let new = window.targetDuration, new > targetDuration else { return nil }
        let old = Array(Self.target(targetDuration).utf8)
        // The tag is on the third line.
        let lines = text.prefix(256).indices.filter { text[$0] == 0x0A }
        guard lines.count > 2, text[lines[1] + 1..<lines[2]].elementsEqual(old) else { return nil }
        targetDuration = new
        return text[...lines[1]] + Array(Self.target(new).utf8) + text[lines[2]...]
    }

    private static func target(_ seconds: Int) -> String { "\(Tag.targetDuration.rawValue):\(seconds)" }

    // MARK: Segments

    /// Returns the lines of a segment. With `isGap` the segment is not available, and only its duration is recorded.
    /// `naming` returns the names of the segment, its initialization section and its keys; nil keeps a key's URI.
    /// Throws `unsafeName` for a name that would break out of its line.
    public mutating func segment(
        _ segment: Segment, number: Int, isRestart: Bool, isGap: Bool, naming: MediaPlaylist.Naming
    ) throws(PlaylistError) -> [UInt8] {
        var lines: [String] = []
        let shift = SequenceNumber(number) - segment.mediaSequenceNumber
        let isShifted = shift != 0

        if isRestart {
            lines.append("\(Self.shiftMark)\(shift)")
        }
        if isRestart || segment.isDiscontinuity {
            lines.append(Tag.discontinuity.rawValue)
        }

        if !isGap {
            lines += try mapLines(of: segment, isShifted: isShifted, naming)
            lines += try keyLines(segment.keys, for: segment, isShifted: isShifted, naming)
        }
        lines += otherLines(of: segment)
        if isGap {
            lines.append(Tag.gap.rawValue)
        }

        lines.append("\(Tag.inf.rawValue):\(segment.storage.text.string(Int(segment.record.infLine)))")
        lines.append(try TextWriter.checked(naming(.segment(segment)) ?? "\(number)"))
        return Self.bytes(lines)
    }

    /// Returns the lines of missed segments, as gaps. `name` returns the name of a segment by its number.
    public func missed(_ missed: LiveNumbering.Missed, name: (Int) -> String) throws(PlaylistError) -> [UInt8] {
        var lines = [String](repeating: Tag.discontinuity.rawValue, count: missed.discontinuities)
        let thousandths = missed.duration.milliseconds
        let fraction = String(1000 + thousandths % 1000).dropFirst()
        for number in missed.numbers {
            lines += [Tag.gap.rawValue, "\(Tag.inf.rawValue):\(thousandths / 1000).\(fraction),"]
            lines.append(try TextWriter.checked(name(number)))
        }
        return Self.bytes(lines)
    }

    private mutating func mapLines(
        of segment: Segment, isShifted: Bool, _ naming: MediaPlaylist.Naming
    ) throws(PlaylistError) -> [String] {
        guard let section = segment.map, let name = naming(.map(section)), name != map else { return [] }
        let keys = try keyLines(section.keys, for: segment, isShifted: isShifted, naming)
        map = name
        return keys + ["\(Tag.map.rawValue):URI=\"\(try TextWriter.checked(name))\""]
    }

    private mutating func keyLines(
        _ new: [Key], for segment: Segment, isShifted: Bool, _ naming: MediaPlaylist.Naming
    ) throws(PlaylistError) -> [String] {
        var needed: [KeyLine] = []
        for key in new {
            var edits = AttributeEdits()
            edits.set("URI", quoted: naming(.key(key)))
            // The segment was encrypted with its original number as IV (RFC 8216 §5.2).
            if isShifted, key.hasImplicitVector {
                edits.set("IV", .enumerated(Key.vector(forSequenceNumber: segment.mediaSequenceNumber)))
            }
            needed.append(KeyLine(text: try Key.line(key, edits), keyFormat: key.keyFormat))
        }
        guard needed != keys else { return [] }
        // A key ends when another of its KEYFORMAT comes, or with METHOD=NONE, which ends all.
        let areReplaced = keys.allSatisfy { old in needed.contains { $0.keyFormat == old.keyFormat } }
        keys = needed
        let lines = needed.map(\.text)
        guard !areReplaced else { return lines }
        return ["\(Tag.key.rawValue):METHOD=NONE"] + lines
    }

    /// Returns the segment's lines without references: bit rate, date and unknown tags.
    private mutating func otherLines(of segment: Segment) -> [String] {
        var lines: [String] = []
        let record = segment.record
        if record.bitRate > 0, Int(record.bitRate) != bitRate {
            bitRate = Int(record.bitRate)
            lines.append("\(Tag.bitrate.rawValue):\(bitRate)")
        }
        if let date = segment.programDateTime {
            lines.append("\(Tag.programDateTime.rawValue):\(date)")
        }
        // Unknown tags before the first segment may apply to the whole text.
        guard segment.index > 0 else { return lines }
        let text = segment.storage.text
        let start = Int(segment.storage.segments[segment.index - 1].uriLine) + 1
        for line in start..<Int(record.uriLine) where text.lines[line].kind == .tag(.unknown) {
            lines.append(text.content(line + 1))
        }
        return lines
    }

    // MARK: Date ranges

    /// Returns the date ranges of a window that the recording lacks. A line that adds attributes to a known range is written
    /// too: lines with the same ID belong together (rfc8216bis §4.4.5.1). `naming` returns the new URIs; nil keeps a URI.
    public mutating func dateRanges(
        of window: MediaPlaylist, naming: MediaPlaylist.Naming
    ) throws(PlaylistError) -> [UInt8] {
        var lines: [String] = []
        for range in window.dateRanges {
            var edits = AttributeEdits()
            if range.assetURI != nil {
                edits.set("X-ASSET-URI", quoted: naming(.assetURI(range)))
            }
            if range.assetList != nil {
                edits.set("X-ASSET-LIST", quoted: naming(.assetList(range)))
            }
            var writer = TextWriter(window.text, from: window.text.lines[range.line - 1].content)
            try edits.apply(to: range.attributes, &writer)
            let line = String(decoding: writer.finished(), as: UTF8.self)
            if dateRanges.insert(line).inserted {
                lines.append(line)
            }
        }
        return Self.bytes(lines)
    }

    private static func bytes(_ lines: [String]) -> [UInt8] { lines.flatMap { Array($0.utf8) + [0x0A] } }
}

extension PlaylistText {
    /// Returns a line without its terminator, by its line number, from 1.
    fileprivate func content(_ number: Int) -> String { bytes.text(lines[number - 1].content) }
}

/// Recovers the state of a recording from its text, after its writer stopped at any point.
public enum RecordedText {
    /// Returns the length of the intact beginning in bytes: up to the last segment's line or EXT-X-ENDLIST; 0 without a
    /// complete segment. A power cut may leave a part of a block, or zeros.
    public static func intactLength(of text: [UInt8]) -> Int {
        let written = text.firstIndex(of: 0) ?? text.count
        guard var end = text[..<written].lastIndex(of: 0x0A) else { return 0 }
        while true {
            var start = 0
            if let lineEnd = text[..<end].lastIndex(of: 0x0A) {
                start = lineEnd + 1
            }
            let line = text[start..<end]
            if !line.isEmpty, line.first != UInt8(ascii: "#") || line.elementsEqual(Tag.endList.rawValue.utf8) {
                return end + 1
            }
            guard start > 0 else { return 0 }
            end = start - 1
        }
    }

    /// Returns the difference between the recording's and the origin's numbers at the recording's end.
    public static func shift(of recorded: MediaPlaylist) -> Int {
        let text = recorded.text
        for line in text.lines.indices.reversed() where text.lines[line].kind == .comment {
            let content = text.string(line)
            guard content.utf8.starts(with: RecordingWriter.shiftMark.utf8) else { continue }
            return Int(content.dropFirst(RecordingWriter.shiftMark.count)) ?? 0
        }
        return 0
    }
}
