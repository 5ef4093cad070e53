/// The segments that a live playlist has dropped and that players can still have: they are listed in front of those that it has. Pure.
///
/// The origin's text stays as it is, so that keys, sections, parts and dates keep their meaning, and media sequence numbers are the
/// origin's: a player finds each segment under the number that it knows (RFC 8216 §6.2.2), and decrypts it with that number.
public struct PastSegments: Sendable {
    /// One dropped segment. It keeps no playlist: a window of hours would stay in memory for each of them.
    private struct Past: Sendable {
        let number: Int
        let duration: MediaDuration
        let isDiscontinuity: Bool
        let keys: [KeyLine]
        let section: Section?
        /// The lines from the date on to the URI.
        let lines: [String]
    }

    private struct KeyLine: Equatable, Sendable {
        let text, keyFormat: String
    }

    private struct Section: Equatable, Sendable {
        let line: String
        /// The keys that encrypt it.
        let keys: [KeyLine]
    }

    private var all: ArraySlice<Past> = []
    /// The sum of their durations, in seconds.
    public private(set) var seconds = 0.0
    /// The discontinuity sequence number of the first one.
    private var discontinuitySequence: SequenceNumber = 0
    /// Maximum number: the text is read again with each reload.
    public static let limit = 2_000

    /// Creates the state before the first playlist.
    public init() {}

    /// The media sequence number of the first one; nil if there is none.
    public var first: Int? { all.first?.number }
    /// The number of segments.
    public var count: Int { all.count }

    // MARK: Following the origin

    /// Adopts what a full playlist has dropped since the former one. All that precedes a segment that players cannot have is
    /// forgotten: a playlist has no holes.
    /// - Parameters:
    ///   - isKept: true if players can still have a segment of the former playlist.
    ///   - resolve: makes a URI of the former playlist absolute; nil if that is invalid.
    public mutating func follow(
        _ window: MediaPlaylist, behind former: MediaPlaylist, isKept: (Segment) -> Bool, resolve: (String) -> String?
    ) {
        guard !window.isDeltaUpdate, !former.isDeltaUpdate else { return }
        let first = Int(window.firstSequenceNumber)
        let formerFirst = Int(former.firstSequenceNumber)
        if let last = all.last, last.number + 1 != formerFirst {
            forgetAll()
        }
        for segment in former.segments.prefix(max(0, first - formerFirst)) {
            guard segment.isGap || isKept(segment), let past = try? Self.past(segment, resolve) else {
                forgetAll()
                continue
            }
            append(past)
        }
        // The list may have got earlier segments back, as from another server.
        while let last = all.last, last.number >= first {
            removeLast()
        }
        if let last = all.last, last.number + 1 != first {
            forgetAll()
        }
        let passed = all.count { $0.isDiscontinuity }
        discontinuitySequence = max(0, window.discontinuitySequence + -passed)
    }

    /// Forgets the earliest segments until the rest is no longer than a time.
    public mutating func trim(toSeconds limit: Double) {
        while !all.isEmpty, all.count > Self.limit || seconds > limit {
            removeFirst()
        }
    }

    /// Forgets the segments up to one, by its number.
    public mutating func forget(upTo number: Int) {
        while let first = all.first, first.number <= number {
            removeFirst()
        }
    }

    /// Forgets all segments: after a restart of the origin's numbers they are no part of its playlist.
    public mutating func forgetAll() {
        all = []
        seconds = 0
    }

    private mutating func append(_ past: Past) {
        // No tag ends the use of a section.
        if past.section == nil, all.last?.section != nil {
            forgetAll()
        }
        all.append(past)
        seconds += past.duration.seconds
    }

    private mutating func removeFirst() {
        guard let first = all.popFirst() else { return }
        if first.isDiscontinuity {
            discontinuitySequence = discontinuitySequence + 1
        }
        subtract(first)
    }

    private mutating func removeLast() {
        if let last = all.popLast() {
            subtract(last)
        }
    }

    private mutating func subtract(_ past: Past) {
        seconds -= past.duration.seconds
        // The sum of no segments is zero; sums of rounded numbers may differ from it a little.
        if all.isEmpty {
            seconds = 0
        }
    }

    private static func past(_ segment: Segment, _ resolve: (String) -> String?) throws(PlaylistError) -> Past {
        var section: Section?
        if let map = segment.map {
            section = Section(line: try line(of: map, resolve), keys: try keyLines(map.keys, resolve))
        }
        return Past(
            number: Int(segment.mediaSequenceNumber), duration: segment.duration,
            isDiscontinuity: segment.isDiscontinuity, keys: try keyLines(segment.keys, resolve), section: section,
            lines: try lines(of: segment, resolve))
    }

    private static func keyLines(_ keys: [Key], _ resolve: (String) -> String?) throws(PlaylistError) -> [KeyLine] {
        var lines: [KeyLine] = []
        for key in keys {
            var edits = AttributeEdits()
            if key.isFetchable, !key.isData {
                edits.set("URI", quoted: resolve(key.uri))
            }
            lines.append(KeyLine(text: try Key.line(key, edits), keyFormat: key.keyFormat))
        }
        return lines
    }

    private static func line(of map: Map, _ resolve: (String) -> String?) throws(PlaylistError) -> String {
        var edits = AttributeEdits()
        edits.set("URI", quoted: resolve(map.uri))
        if let range = map.byteRange {
            edits.set("BYTERANGE", .quoted(range.description))
        }
        let text = map.storage.text
        var writer = TextWriter(text, from: text.lines[map.line - 1].content)
        try edits.apply(to: text.attributes(map.line - 1), &writer)
        return String(decoding: writer.finished(), as: UTF8.self)
    }

    private static func lines(
        of segment: Segment, _ resolve: (String) -> String?
    ) throws(PlaylistError) -> [String] {
        var lines: [String] = []
        if let date = segment.programDateTime {
            lines.append("\(Tag.programDateTime.rawValue):\(date)")
        }
        lines += marks(before: segment)
        if segment.isGap {
            lines.append(Tag.gap.rawValue)
        }
        lines.append("\(Tag.inf.rawValue):\(segment.storage.text.string(Int(segment.record.infLine)))")
        if let range = segment.byteRange {
            lines.append("\(Tag.byteRange.rawValue):\(range)")
        }
        lines.append(try TextWriter.checked(resolve(segment.uri) ?? segment.uri))
        return lines
    }

    /// The date ranges and the unknown tags in front of a segment. Those in front of the first one may belong to the whole text.
    private static func marks(before segment: Segment) -> [String] {
        guard segment.index > 0 else { return [] }
        let text = segment.storage.text
        let start = Int(segment.storage.segments[segment.index - 1].uriLine) + 1
        return (start..<Int(segment.record.uriLine)).compactMap { line in
            switch text.lines[line].kind {
            case .tag(.unknown), .tag(.dateRange): text.bytes.text(text.lines[line].content)
            default: nil
            }
        }
    }

    // MARK: The longer text

    /// Returns the text of a playlist, full or delta update, as a player gets it that knows the dropped segments; nil if it is the
    /// origin's own.
    public func text(before window: MediaPlaylist) throws(PlaylistError) -> [UInt8]? {
        guard let first, let last = all.last else { return nil }
        let begin = Int(window.mediaSequence)
        if window.isDeltaUpdate {
            guard begin >= first else { return nil }
        } else {
            guard begin == last.number + 1, canPrecede(window, last: last) else { return nil }
        }

        let text = window.text
        var writer = TextWriter(text)
        var isListed = window.isDeltaUpdate
        for line in text.lines.indices {
            let kind = text.lines[line].kind
            if !isListed, kind.belongsToSegment {
                writer.insert(lines, beforeLine: line)
                isListed = true
            }
            guard case .tag(let tag) = kind else { continue }
            try write(tag, line: line, of: window, first: first, to: &writer)
        }
        return writer.finished()
    }

    /// False if the window's text would mean something else behind the dropped segments: no tag ends the use of a section, and a
    /// byte range without an offset begins where the one before it ends.
    private func canPrecede(_ window: MediaPlaylist, last: Past) -> Bool {
        guard let next = window.segments.first else { return true }
        if last.section != nil, next.map == nil {
            return false
        }
        let range = Int(next.record.rangeLine)
        return range < 0 || !ByteRangeTag.isImplicit(window.text, range)
    }

    private func write(
        _ tag: Tag, line: Int, of window: MediaPlaylist, first: Int, to writer: inout TextWriter
    ) throws(PlaylistError) {
        let text = window.text
        switch tag {
        case .mediaSequence: writer.replace(text.lines[line].content, with: "\(tag.rawValue):\(first)")
        case .discontinuitySequence:
            writer.replace(text.lines[line].content, with: "\(tag.rawValue):\(discontinuitySequence)")
        case .skip:
            guard let skipped = window.skippedSegments else { return }
            let more = Int(window.mediaSequence) - first
            try replace("SKIPPED-SEGMENTS", with: "\(skipped + more)", in: text.attributes(line), to: &writer)
        case .start:
            guard let start = window.start, start.line == line + 1, !start.timeOffset.isBeforeEnd else { return }
            let offset = start.timeOffset.distance.seconds + seconds
            try replace("TIME-OFFSET", with: "\(offset)", in: text.attributes(line), to: &writer)
        // The variables have been replaced.
        case .define: writer.drop(line: line)
        default: break
        }
    }

    private func replace(
        _ name: String, with value: String, in attributes: AttributeList, to writer: inout TextWriter
    ) throws(PlaylistError) {
        var edits = AttributeEdits()
        edits.set(name, .enumerated(value))
        try edits.apply(to: attributes, &writer)
    }

    private var lines: [String] {
        var lines: [String] = []
        var keys: [KeyLine] = []
        var section: Section?
        for past in all {
            if past.isDiscontinuity {
                lines.append(Tag.discontinuity.rawValue)
            }
            if let new = past.section, new != section {
                lines += Self.change(&keys, to: new.keys)
                lines.append(new.line)
                section = new
            }
            lines += Self.change(&keys, to: past.keys)
            lines += past.lines
        }
        // The origin's text says which keys are in force from here on, and has none before it.
        return lines + Self.change(&keys, to: [])
    }

    /// Returns the lines after which other keys are in force. A key ends when another of its KEYFORMAT comes, or with METHOD=NONE,
    /// which ends all.
    private static func change(_ keys: inout [KeyLine], to new: [KeyLine]) -> [String] {
        guard new != keys else { return [] }
        let areReplaced = keys.allSatisfy { old in new.contains { $0.keyFormat == old.keyFormat } }
        keys = new
        let lines = new.map(\.text)
        guard !areReplaced else { return lines }
        return ["\(Tag.key.rawValue):METHOD=NONE"] + lines
    }
}

extension PlaylistText.Line.Kind {
    /// True for a line that is about the next segment, or one of its parts.
    fileprivate var belongsToSegment: Bool {
        switch self {
        case .uri: true
        case .tag(let tag):
            switch tag {
            case .inf, .byteRange, .discontinuity, .key, .map, .programDateTime, .gap, .bitrate, .part, .preloadHint:
                true
            default: false
            }
        case .blank, .comment: false
        }
    }
}
