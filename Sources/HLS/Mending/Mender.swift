/// Mends a text line by line, so that the parsers read it and players take it alike.
///
/// Omits what cannot be read, and what has no counterpart: an EXTINF without a URI, a URI without an EXTINF. Writes readable
/// values in the form that RFC 8216 defines. Each mend does what hls.js or ffmpeg does with the defect, whichever plays more.
struct Mender {
    /// A change to a line.
    enum Edit {
        case omit
        case content([UInt8])
    }

    let text: PlaylistText
    let isMultivariant: Bool
    private(set) var mends: [PlaylistError] = []
    private var edits: [Int: Edit] = [:]
    /// Line of the EXTINF or EXT-X-STREAM-INF whose URI is expected.
    private var announced: Int?
    /// Blank lines and comments since `announced`.
    private var between: [Int] = []
    /// True if the URI after an EXT-X-STREAM-INF in a media playlist is to be omitted.
    private var isForeign = false
    private var ranges = RangeMender()
    /// Last line of each tag that may occur once.
    private var singles: [Tag: Int] = [:]
    private var uriCount = 0
    private var isVOD = false
    private var hasEnd = false

    /// Returns the mended text. Throws if it announces media, and none is left.
    static func mended(_ text: PlaylistText, isMultivariant: Bool) throws(PlaylistError) -> PlaylistText {
        var mender = Mender(text: text, isMultivariant: isMultivariant)
        mender.run()
        try mender.requireMedia()
        return mender.result
    }

    private init(text: PlaylistText, isMultivariant: Bool) {
        self.text = text
        self.isMultivariant = isMultivariant
    }

    /// The tag that announces a URI.
    private var announcer: Tag { isMultivariant ? .streamInf : .inf }

    private mutating func run() {
        let announcer = announcer
        for line in text.lines.indices {
            switch text.lines[line].kind {
            case .blank, .comment:
                if announced != nil {
                    between.append(line)
                }
            case .uri: readURI(line)
            case .tag(announcer):
                omitUnannounced()
                announced = line
                if isMultivariant {
                    readAttributes(announcer, line)
                } else {
                    readInf(line)
                }
            case .tag(.byteRange) where !isMultivariant: readRange(line)
            case .tag(let tag): read(tag, line)
            }
        }
        omitUnannounced()
        if text.endsInTag {
            omit(text.lines.count - 1, .truncated, reason: "the playlist ends within a tag")
        }
    }

    // MARK: URIs and what announces them

    private mutating func readURI(_ line: Int) {
        if text.lines[line].content.isEmpty {
            return omitLost(line)
        }
        if isForeign, announced == nil {
            isForeign = false
            return omit(line, .mixedTags, reason: "the text has tags of both multivariant and media playlists")
        }

        guard announced != nil else {
            let tag = announcer.rawValue.dropFirst()
            return omit(line, .unannouncedURI, reason: "a URI without an \(tag) before it")
        }

        if ranges.isUnreadable {
            if let rangeLine = ranges.line {
                omit(rangeLine, .badValue, reason: "the byte range is not length@offset")
            }
            for line in [line, announced].compactMap(\.self) {
                edits[line] = .omit
            }
        } else {
            accept(line)
        }

        announced = nil
        between = []
        ranges.endSegment()
    }

    /// Omits a URI that its variables emptied, which is reported already, with what announces it.
    private mutating func omitLost(_ line: Int) {
        for line in [line, announced, ranges.line].compactMap(\.self) {
            edits[line] = .omit
        }
        announced = nil
        between = []
        isForeign = false
        ranges.dropPending()
    }

    private mutating func accept(_ line: Int) {
        uriCount += 1
        if let explicit = ranges.resolve(text, uriLine: line), let rangeLine = ranges.line {
            replace(
                rangeLine, with: "\(Tag.byteRange.rawValue):\(explicit)", .missingOffset,
                reason: "the byte range has no offset")
        }
        let blanks = between.filter { text.lines[$0].content.lowerBound < text.extent($0).upperBound }
        for line in blanks {
            edits[line] = .omit
        }
        // VLC plays comments there, and either of them behind EXTINF.
        if isMultivariant, let first = blanks.first(where: { text.lines[$0].kind == .blank }) {
            note(
                first, .interruptedSegment,
                reason: "an empty line between EXT-X-STREAM-INF and its URI: VLC plays nothing")
        }
        trim(line)
    }

    /// Omits an EXTINF or EXT-X-STREAM-INF that no URI follows, and its byte range.
    private mutating func omitUnannounced() {
        guard let line = announced else { return }
        omit(line, .missingURI, reason: "no URI follows the \(announcer.rawValue.dropFirst())")
        if let rangeLine = ranges.line {
            edits[rangeLine] = .omit
        }
        announced = nil
        between = []
        ranges.dropPending()
    }

    private mutating func readInf(_ line: Int) {
        let value = text.value(line)
        let inf = Inf(text.bytes, value)

        if let seconds = text.bytes.decimalFloat(inf.duration), seconds <= Inf.longest,
            text.bytes.firstIndex(of: UInt8(ascii: ","), in: value) != nil
        {
            // The title is the author's, with the blanks at its end.
            let content = text.lines[line].content
            if content.lowerBound < text.bytes.trimmed(content).lowerBound {
                trim(line)
            }
            return
        }

        let title = text.bytes.text(inf.title)
        let seconds: String?
        let reason: String
        if let duration = text.bytes.decimalFloat(inf.duration), duration <= Inf.longest {
            seconds = text.bytes.text(inf.duration)
            reason = "the duration has no comma after it"
        } else {
            seconds = Number.leading(text.bytes, inf.duration, upTo: Inf.longest)
            reason = "the duration is not a decimal number of seconds"
        }

        // libavformat plays a segment of unknown duration; hls.js takes it for a part of the next.
        let mended = "\(Tag.inf.rawValue):\(seconds ?? "\(ranges.usualDuration)"),\(title)"
        replace(line, with: mended, .badValue, reason: reason)
    }

    private mutating func readRange(_ line: Int) {
        if let earlier = ranges.line {
            omit(earlier, .duplicateTag, reason: "the segment has a second byte range")
        }
        trim(line)
        ranges.begin(text, line)
    }

    // MARK: Other tags

    private mutating func read(_ tag: Tag, _ line: Int) {
        let scope = tag.scope
        if tag == .m3u {
            if line == 0, text.lines[0].content.count != tag.length {
                edits[0] = .content(Array(tag.rawValue.utf8))
            }
            return
        }

        if scope != .any, (scope == .multivariant) != isMultivariant {
            isForeign = isForeign || tag == .streamInf
            return omit(line, .mixedTags, reason: "the text has tags of both multivariant and media playlists")
        }

        if tag.hasAttributes {
            readAttributes(tag, line)
        } else {
            readValue(tag, line)
        }

        if tag.isSingle, tag != .contentSteering, tag != .skip, !isOmitted(line) {
            readSingle(tag, line)
        }
        if tag == .endList {
            hasEnd = true
        }
    }

    private func isOmitted(_ line: Int) -> Bool {
        if case .omit? = edits[line] {
            return true
        }
        return false
    }

    /// Keeps the position of the first line and the value of the last one, as libavformat reads them. hls.js refuses such a text.
    private mutating func readSingle(_ tag: Tag, _ line: Int) {
        guard let first = singles[tag] else {
            singles[tag] = line
            return
        }
        if tag == .endList {
            // libavformat ignores an end in the head, and would begin near the live edge if that were the one that is left.
            edits[first] = .omit
            note(line, .duplicateTag, reason: "EXT-X-ENDLIST is repeated; it is already in line \(first + 1)")
            singles[tag] = line
            return
        }
        let last = content(line)
        if content(first) != last {
            edits[first] = .content(last)
        }
        omit(line, .duplicateTag, reason: "\(tag.rawValue.dropFirst()) is repeated; it is already in line \(first + 1)")
    }

    private mutating func readValue(_ tag: Tag, _ line: Int) {
        trim(line)
        let value = text.value(line)
        switch tag {
        case .version, .mediaSequence, .discontinuitySequence:
            let largest = Double(SequenceNumber.largestInPlaylist)
            if let number = text.bytes.decimalInteger(value), number <= SequenceNumber.largestInPlaylist {
                return
            }
            let number = Number.leading(text.bytes, value, upTo: largest).flatMap(Number.integer)
            replaceOrOmit(tag, line: line, value: number, reason: "the value is not a decimal integer")
        case .targetDuration:
            if let number = text.bytes.decimalInteger(value), number > 0, Double(number) <= Inf.longest {
                ranges.usualDuration = number
                return
            }
            let number = Number.leading(text.bytes, value, upTo: Inf.longest).flatMap(Number.roundedUp)
            if let number, let duration = Int(number) {
                ranges.usualDuration = duration
            }
            if number == "0" {
                replaceOrOmit(tag, line: line, value: nil, reason: "the target duration is 0")
            } else {
                replaceOrOmit(
                    tag, line: line, value: number, reason: "the target duration is not a decimal integer")
            }
        case .playlistType:
            let type = text.bytes.text(value).uppercased()
            isVOD = type == "VOD"
            if type == "VOD" || type == "EVENT", type != text.bytes.text(value) {
                replaceOrOmit(tag, line: line, value: type, reason: "the playlist type is not in capitals")
            }
        case .bitrate where text.bytes.decimalInteger(value) == nil:
            omit(line, .badValue, reason: "the bit rate is not a decimal-integer")
        default: break
        }
    }

    private mutating func replaceOrOmit(_ tag: Tag, line: Int, value: String?, reason: String) {
        guard let value else { return omit(line, .badValue, reason: reason) }
        replace(line, with: "\(tag.rawValue):\(value)", .badValue, reason: reason)
    }

    private mutating func readAttributes(_ tag: Tag, _ line: Int) {
        let list = text.attributes(line)
        var mender = AttributeMender(tag: tag, list: list)
        mender.run()
        if let missing = mender.missing {
            return omit(line, .missingAttribute, reason: missing)
        }
        // A variant needs none of its attributes to play; without the line, its URI would be lost.
        if tag != .streamInf, mender.value?.isEmpty ?? false, let reason = mender.faults.first {
            return omit(line, .badValue, reason: reason)
        }
        for reason in mender.faults {
            note(line, .badValue, reason: reason)
        }
        if let fault = list.fault, mends.count < PlaylistText.maximumMends {
            mends.append(fault)
        }
        if let value = mender.value {
            edits[line] = .content(Array("\(tag.rawValue):".utf8) + value)
        } else {
            trim(line)
        }
    }

    // MARK: Edits

    private func content(_ line: Int) -> [UInt8] {
        if case .content(let bytes)? = edits[line] {
            return bytes
        }
        return Array(text.bytes[text.bytes.trimmed(text.lines[line].content)])
    }

    private mutating func trim(_ line: Int) {
        let content = text.lines[line].content
        let trimmed = text.bytes.trimmed(content)
        if trimmed != content, edits[line] == nil {
            edits[line] = .content(Array(text.bytes[trimmed]))
        }
    }

    private mutating func replace(
        _ line: Int, with content: String, _ code: PlaylistError.Code, reason: String
    ) {
        note(line, code, reason: reason)
        edits[line] = .content(Array(content.utf8))
    }

    private mutating func omit(_ line: Int, _ code: PlaylistError.Code, reason: String) {
        note(line, code, reason: reason)
        edits[line] = .omit
    }

    private mutating func note(_ line: Int, _ code: PlaylistError.Code, reason: String) {
        if mends.count < PlaylistText.maximumMends {
            mends.append(text.error(code, line: line, reason))
        }
    }
}

/// The result of mending.
extension Mender {
    /// Throws the first defect that left no media, if there is none. A media playlist without any is a live one that begins.
    private func requireMedia() throws(PlaylistError) {
        guard uriCount == 0 else { return }
        // A line that variables or the encoding destroyed is then the cause of the missing media.
        let codes: [PlaylistError.Code] = [.missingURI, .unannouncedURI, .badValue, .missingAttribute]
        let harmless: [PlaylistError.Code] = [.notUTF8, .controlCharacter, .missingVariable]
        let lost = text.mends.first { !harmless.contains($0.code) }
        let ownCause = codes.lazy.compactMap { code in mends.first { $0.code == code } }.first
        guard let first = lost ?? ownCause else { return }
        let hasMedia = text.lines.indices.contains { line in
            let kinds: [PlaylistText.Line.Kind] = [.tag(.media), .tag(.iFrameStreamInf), .tag(.part), .tag(.skip)]
            return kinds.contains(text.lines[line].kind) && !isOmitted(line)
        }
        // A header that cannot be read is no lost media.
        let isAnnounced = text.lines.contains { [.uri, .tag(.media), .tag(.iFrameStreamInf)].contains($0.kind) }
        // Without a line that says which kind it is, no player could read what is left.
        let isMarked = text.lines.indices.contains { line in
            guard case .tag(let tag) = text.lines[line].kind else { return false }
            return tag.marksMedia && !isOmitted(line)
        }
        if !hasMedia, isAnnounced || lost != nil || first.code == .missingURI || !isMarked {
            throw first
        }
    }

    private var result: PlaylistText {
        let needsEnd = isVOD && !hasEnd && uriCount > 0 && text.bytes.last == 0x0A
        guard !edits.isEmpty || needsEnd else {
            guard !mends.isEmpty else { return text }
            return PlaylistText(text, bytes: text.bytes, lines: text.lines, mends: mends)
        }

        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.bytes.count + 64)
        var lines: [PlaylistText.Line] = []
        lines.reserveCapacity(text.lines.count + 1)
        if text.hasByteOrderMark {
            bytes += text.bytes[..<3]
        }

        for (index, line) in text.lines.enumerated() {
            let start = UInt32(bytes.count)
            switch edits[index] {
            case .omit?: lines.append(.init(start: start, length: 0, kind: .blank))
            case .content(let content)?:
                bytes += content
                bytes += text.bytes[line.content.upperBound..<text.extent(index).upperBound]
                lines.append(.init(start: start, length: UInt32(content.count), kind: line.kind))
            case nil:
                bytes += text.bytes[text.extent(index)]
                lines.append(.init(start: start, length: line.length, kind: line.kind))
            }
        }

        var mends = mends
        if needsEnd {
            let end = Array(Tag.endList.rawValue.utf8)
            lines.append(.init(start: UInt32(bytes.count), length: UInt32(end.count), kind: .tag(.endList)))
            bytes += end + [0x0A]
            let line = singles[.playlistType] ?? 0
            mends.append(text.error(.missingEnd, line: line, "a VOD playlist without EXT-X-ENDLIST: players reload it"))
        }
        return PlaylistText(text, bytes: bytes, lines: lines, mends: mends)
    }
}

/// Resolves byte ranges without an offset as players do: at the end of the previous range, or else at 0.
struct RangeMender {
    /// Line of the pending segment's EXT-X-BYTERANGE.
    private(set) var line: Int?
    private(set) var isUnreadable = false
    /// The target duration, for segments of unknown duration.
    var usualDuration = 10
    private var parts: (length: Int, offset: Int?)?
    private var previous: (uriLine: Int, end: Int)?

    mutating func begin(_ text: PlaylistText, _ line: Int) {
        self.line = line
        parts = SubRange.parts(text.bytes, text.value(line))
        guard let parts else {
            isUnreadable = true
            return
        }
        let offset = parts.offset ?? previous?.end
        isUnreadable = SubRange(offset: offset ?? 0, length: parts.length) == nil
    }

    /// Returns the range with its offset if RFC 8216 does not define the offset, or if players take an empty one for 0.
    mutating func resolve(_ text: PlaylistText, uriLine: Int) -> SubRange? {
        guard let parts else {
            previous = nil
            return nil
        }
        let known = previous
        let offset = parts.offset ?? known?.end
        guard let range = SubRange(offset: offset ?? 0, length: parts.length) else { return nil }
        previous = (uriLine, range.end)
        if parts.offset != nil {
            return nil
        }
        var hasMark = false
        if let line {
            hasMark = !ByteRangeTag.isImplicit(text, line)
        }
        if !hasMark, let known, text.bytes.areEqual(text.value(known.uriLine), text.value(uriLine)) {
            return nil
        }
        return range
    }

    mutating func endSegment() {
        if isUnreadable {
            previous = nil
        }
        dropPending()
    }

    mutating func dropPending() {
        line = nil
        parts = nil
        isUnreadable = false
    }
}
