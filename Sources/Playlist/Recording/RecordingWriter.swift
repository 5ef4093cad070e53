/// Writes a recording's text: an EVENT playlist (RFC 8216 §4.3.3.5) that only grows, with names of ours in place of
/// URIs.
///
/// Each call gives the lines that come next. They hold whole segments: nothing of low latency, no byte range, and of
/// keys, initialization sections and bit rates only the changes. Numbers overflow nowhere: they are those of
/// `RecordingFront`.
public struct RecordingWriter: Sendable {
    /// EXT-X-TARGETDURATION as it was last written, in seconds.
    public private(set) var targetDuration: Int
    private var keys: [KeyLine] = []
    private var map: String?
    private var bitRate = 0
    private var dateRanges: Set<String> = []

    /// A key in force.
    private struct KeyLine: Equatable, Sendable {
        let text: String
        let keyFormat: String
    }

    /// What stands before the first segment after the origin's numbers began anew: a comment to players.
    static let shiftMark = "#WEIR-SHIFT:"

    /// A recording that begins with a window.
    public init(beginning window: MediaPlaylist) {
        targetDuration = max(window.targetDuration ?? 2, 1)
    }

    /// A recording that goes on.
    public init(behind recorded: MediaPlaylist) {
        targetDuration = max(recorded.targetDuration ?? 2, 1)
        dateRanges = Set(recorded.dateRanges.map { recorded.text.content($0.line) })
        guard let last = recorded.segments.last else { return }
        keys = last.keys.map { KeyLine(text: recorded.text.content($0.line), keyFormat: $0.keyFormat) }
        map = last.map?.uri
        bitRate = Int(last.record.bitRate)
    }

    // MARK: The frame

    /// What a recording begins with. Version 7 knows everything that is written here, and no variables.
    public func header(of window: MediaPlaylist) -> [UInt8] {
        var lines = [
            Tag.m3u.rawValue, "\(Tag.version.rawValue):7", Self.target(targetDuration),
            "\(Tag.mediaSequence.rawValue):\(window.storage.header.firstSequenceNumber)",
        ]
        if window.discontinuitySequence > 0 {
            lines.append("\(Tag.discontinuitySequence.rawValue):\(window.discontinuitySequence)")
        }
        lines.append("\(Tag.playlistType.rawValue):EVENT")
        if window.hasIndependentSegments { lines.append(Tag.independentSegments.rawValue) }
        if window.isIFramesOnly { lines.append(Tag.iFramesOnly.rawValue) }
        return Self.bytes(lines)
    }

    /// What a recording ends with.
    public var end: [UInt8] { Self.bytes([Tag.endList.rawValue]) }

    /// The whole text anew, where a window's target duration is longer than the one that stands in it; nil where it is
    /// not.
    public mutating func raised(_ text: [UInt8], for window: MediaPlaylist) -> [UInt8]? {
        guard let new = window.targetDuration, new > targetDuration else { return nil }
        let old = Array(Self.target(targetDuration).utf8)
        // It stands on the third line.
        let lines = text.prefix(256).indices.filter { text[$0] == 0x0A }
        guard lines.count > 2, text[lines[1] + 1..<lines[2]].elementsEqual(old) else { return nil }
        targetDuration = new
        return text[...lines[1]] + Array(Self.target(new).utf8) + text[lines[2]...]
    }

    private static func target(_ seconds: Int) -> String { "\(Tag.targetDuration.rawValue):\(seconds)" }

    // MARK: Segments

    /// A segment under its name; where `isGap`, one that could not be had, so that nothing but its time is left.
    ///
    /// - Parameter naming: the names of the segment itself, of its initialization section, and of its keys; nil leaves
    ///   a key as it is.
    /// - Throws: `unsafeName` for a name that could break out of its line.
    public mutating func segment(
        _ segment: Segment, number: Int, isRestart: Bool, isGap: Bool, naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) -> [UInt8] {
        var lines: [String] = []
        let isShifted = number != segment.mediaSequenceNumber
        if isRestart { lines.append("\(Self.shiftMark)\(number - segment.mediaSequenceNumber)") }
        if isRestart || segment.isDiscontinuity { lines.append(Tag.discontinuity.rawValue) }
        if !isGap {
            lines += try mapLines(of: segment, isShifted: isShifted, naming)
            lines += try keyLines(segment.keys, for: segment, isShifted: isShifted, naming)
        }
        lines += otherLines(of: segment)
        if isGap { lines.append(Tag.gap.rawValue) }
        lines.append("\(Tag.inf.rawValue):\(segment.storage.text.string(Int(segment.record.infLine)))")
        lines.append(try TextWriter.checked(naming(.segment(segment)) ?? "\(number)"))
        return Self.bytes(lines)
    }

    /// Segments that were never seen.
    ///
    /// - Parameter name: the name of the one with a number.
    public func missed(_ missed: RecordingFront.Missed, name: (Int) -> String) throws(PlaylistError) -> [UInt8] {
        var lines = [String](repeating: Tag.discontinuity.rawValue, count: missed.discontinuities)
        let thousandths = Int(missed.duration * 1000 + 0.5)
        let fraction = String(1000 + thousandths % 1000).dropFirst()
        for number in missed.numbers {
            lines += [Tag.gap.rawValue, "\(Tag.inf.rawValue):\(thousandths / 1000).\(fraction),"]
            lines.append(try TextWriter.checked(name(number)))
        }
        return Self.bytes(lines)
    }

    private mutating func mapLines(
        of segment: Segment, isShifted: Bool, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) -> [String] {
        guard let section = segment.map, let name = naming(.map(section)), name != map else { return [] }
        let keys = try keyLines(section.keys, for: segment, isShifted: isShifted, naming)
        map = name
        return keys + ["\(Tag.map.rawValue):URI=\"\(try TextWriter.checked(name))\""]
    }

    /// The lines that put these keys in force, if others are.
    private mutating func keyLines(
        _ new: [Key], for segment: Segment, isShifted: Bool, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) -> [String] {
        var wanted: [KeyLine] = []
        for key in new {
            var edits = AttributeEdits()
            edits.set("URI", quoted: naming(.key(key)))
            // Its own number is what the segment was encrypted with (RFC 8216 §5.2).
            if isShifted, key.hasImplicitVector {
                edits.set("IV", .enumerated(Key.vector(forSequenceNumber: segment.mediaSequenceNumber)))
            }
            wanted.append(KeyLine(text: try Key.line(key, edits), keyFormat: key.keyFormat))
        }
        guard wanted != keys else { return [] }
        // A key goes when another of its KEYFORMAT comes, or when all go.
        let areReplaced = keys.allSatisfy { old in wanted.contains { $0.keyFormat == old.keyFormat } }
        keys = wanted
        return (areReplaced ? [] : ["\(Tag.key.rawValue):METHOD=NONE"]) + wanted.map(\.text)
    }

    /// The lines of the segment's own that are no references: its bit rate, its date, and what no text defines.
    private mutating func otherLines(of segment: Segment) -> [String] {
        var lines: [String] = []
        let record = segment.record
        if record.bitRate > 0, Int(record.bitRate) != bitRate {
            bitRate = Int(record.bitRate)
            lines.append("\(Tag.bitrate.rawValue):\(bitRate)")
        }
        if let date = segment.programDateTime { lines.append("\(Tag.programDateTime.rawValue):\(date)") }
        // What stands before the first segment of a text may be about the text.
        guard segment.index > 0 else { return lines }
        let text = segment.storage.text
        let start = Int(segment.storage.segments[segment.index - 1].uriLine) + 1
        for line in start..<Int(record.uriLine) where text.lines[line].kind == .tag(.unknown) {
            lines.append(text.content(line + 1))
        }
        return lines
    }

    // MARK: Date ranges

    /// The date ranges of a window that are not in the recording yet. One that says more of a range than before comes
    /// again: lines of one ID belong together (rfc8216bis §4.4.5.1).
    ///
    /// - Parameter naming: what its URIs become; nil leaves them.
    public mutating func dateRanges(
        of window: MediaPlaylist, naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) -> [UInt8] {
        var lines: [String] = []
        for range in window.dateRanges {
            var edits = AttributeEdits()
            if range.assetURI != nil { edits.set("X-ASSET-URI", quoted: naming(.assetURI(range))) }
            if range.assetList != nil { edits.set("X-ASSET-LIST", quoted: naming(.assetList(range))) }
            var writer = TextWriter(window.text, from: window.text.lines[range.line - 1].content)
            try edits.apply(to: range.attributes, &writer)
            let line = String(decoding: writer.finished(), as: UTF8.self)
            if dateRanges.insert(line).inserted { lines.append(line) }
        }
        return Self.bytes(lines)
    }

    private static func bytes(_ lines: [String]) -> [UInt8] { lines.flatMap { Array($0.utf8) + [0x0A] } }
}

extension PlaylistText {
    /// A line without its terminator, by its number from 1.
    fileprivate func content(_ number: Int) -> String { bytes.text(lines[number - 1].content) }
}
