struct MediaPlaylistRenderer {
    typealias Naming = MediaPlaylist.Naming
    let storage: MediaPlaylist.Storage
    let view: MediaPlaylistView
    let selection: MediaPlaylistCut?
    /// Indexes of segments that get EXT-X-GAP.
    var gaps: Set<Int> = []
    var writer: TextWriter
    /// Index of the segment that the next URI line belongs to.
    var nextSegment = 0
    var cut = SegmentCut()
    var version: RequiredVersion
    private var nextKey = 0
    private var nextMap = 0
    private var nextDateRange = 0
    private var nextPart = 0
    private var nextHint = 0
    private var nextReport = 0
    private var isPreviousPartRenamed = false
    private var hasType = false
    /// New name of the current segment, requested at the first line that needs it.
    private var name: (segment: Int, value: String?)?
    private var isPreviousRenamed = false

    init(storage: MediaPlaylist.Storage, view: MediaPlaylistView, selection: MediaPlaylistCut? = nil) {
        self.storage = storage
        self.view = view
        self.selection = selection
        writer = TextWriter(storage.text)
        version = RequiredVersion(declared: storage.header.version)
    }

    mutating func run(_ naming: Naming) throws(PlaylistError) -> [UInt8] {
        let lines = storage.text.lines
        if storage.header.isIFramesOnly {
            version.need(4)
        }
        for line in lines.indices {
            if line == 1 {
                addHeader()
            }
            switch lines[line].kind {
            case .blank, .comment: break
            case .uri: try writeSegment(line, naming)
            case .tag(let tag): try write(tag, line: line, naming: naming)
            }
        }
        if view.isFinished, !storage.header.hasEndList {
            writer.insert([Tag.endList.rawValue], beforeLine: lines.count)
        }
        let text = writer.finished(deferred: version.stated)
        guard view.isCorrected, KeyOrder.matters(for: storage.keyRecords, in: storage.text.bytes) else { return text }
        return KeyOrder.identityLast(text)
    }

    private static let eventType = "\(Tag.playlistType.rawValue):EVENT"
    private static let startAtBeginning = "\(Tag.start.rawValue):TIME-OFFSET=0"
    private static let vodType = "\(Tag.playlistType.rawValue):VOD"

    /// Inserts, after EXTM3U, tags that the view needs and the text lacks.
    private mutating func addHeader() {
        let lines = storage.text.lines
        if view.isCorrected, !lines.contains(where: { $0.kind == .tag(.version) }) {
            writer.insertDeferred(Tag.version.rawValue + ":", beforeLine: 1)
        }
        if view.isCorrected {
            addTargetDuration()
        }
        if omitsSkip, storage.header.mediaSequence == nil {
            writer.insert([firstNumber], beforeLine: 1)
        }
        for line in lateNumbers {
            writer.insert([content(line)], beforeLine: 1)
        }
        if storage.header.discontinuitySequence == nil, selection?.numbers?.discontinuities ?? 0 > 0,
            let number = changedNumber(.discontinuitySequence)
        {
            writer.insert([number], beforeLine: 1)
        }
        let hasType = lines.contains { $0.kind == .tag(.playlistType) }
        if view.isFinished, !hasType {
            writer.insert([Self.vodType], beforeLine: 1)
        }
        if view.isEvent, !view.isFinished, !hasType {
            writer.insert([Self.eventType], beforeLine: 1)
        }
        if view.startsAtBeginning, !view.isFinished {
            writer.insert([Self.startAtBeginning], beforeLine: 1)
        }
    }

    /// hls.js refuses a playlist without EXT-X-TARGETDURATION.
    private mutating func addTargetDuration() {
        guard storage.header.targetDuration == nil, !storage.segments.isEmpty else { return }
        let longest = storage.segments.reduce(MediaDuration(seconds: 1)) { max($0, $1.duration) }
        writer.insert(["\(Tag.targetDuration.rawValue):\(longest.roundedUp)"], beforeLine: 1)
    }

    /// Lines of sequence numbers after the first segment, where hls.js refuses them.
    private var lateNumbers: [Int] {
        guard view.isCorrected, let first = storage.segments.first?.uriLine else { return [] }
        let lines = storage.text.lines
        return lines.indices.filter { line in
            line > first && [.tag(.mediaSequence), .tag(.discontinuitySequence)].contains(lines[line].kind)
        }
    }

    private func content(_ line: Int) -> String {
        if case .tag(let tag) = storage.text.lines[line].kind, let number = changedNumber(tag) {
            return number
        }
        return storage.text.bytes.text(storage.text.lines[line].content)
    }

    private mutating func writeNumber(_ tag: Tag, _ line: Int) {
        if view.isCorrected, nextSegment > 0 {
            return writer.drop(line: line)
        }
        if let number = changedNumber(tag) {
            writer.replace(storage.text.lines[line].content, with: number)
        }
    }

    /// The line of a sequence number that the view changes; nil if it stays.
    private func changedNumber(_ tag: Tag) -> String? {
        let numbers = selection?.numbers
        switch tag {
        case .mediaSequence where omitsSkip || numbers != nil: return firstNumber
        case .discontinuitySequence:
            guard let numbers else { return nil }
            let number = (storage.header.discontinuitySequence ?? 0) + numbers.discontinuities
            return "\(tag.rawValue):\(number)"
        default: return nil
        }
    }

    /// True if the view omits EXT-X-SKIP. The skipped segments are then unknown, and the listed ones keep their numbers.
    private var omitsSkip: Bool { storage.lowLatency.skip != nil && !view.keepsLowLatency }
    private var firstNumber: String {
        var listed = storage.header.mediaSequence ?? 0
        if omitsSkip {
            listed = storage.header.firstSequenceNumber
        }
        let omitted = selection?.numbers?.omitted ?? 0
        let number = listed + -omitted
        return "\(Tag.mediaSequence.rawValue):\(number)"
    }

    private mutating func write(_ tag: Tag, line: Int, naming: Naming) throws(PlaylistError) {
        switch tag {
        case .version:
            if view.isCorrected {
                writer.replaceDeferred(storage.text.value(line))
            }
        case .playlistType: writeType(line)
        case .mediaSequence, .discontinuitySequence: writeNumber(tag, line)
        case .start: try writeStart(line)
        case .inf, .programDateTime, .discontinuity, .gap: try writeSegmentTag(tag, line)
        case .byteRange: writeByteRange(line, naming)
        case .key: try writeKey(line, naming)
        case .map: try writeMap(line, naming)
        case .dateRange: try writeDateRange(line, naming)
        // Variables have been replaced: most players cannot do it.
        case .define: writer.drop(line: line)
        default:
            if tag.isLowLatency {
                try writeLowLatency(tag, line: line, naming: naming)
            }
        }
    }
}

extension MediaPlaylistRenderer {
    private mutating func newName(_ naming: Naming) -> String? {
        if let name, name.segment == nextSegment {
            return name.value
        }
        guard nextSegment < storage.segments.count else { return nil }
        let value = naming(.segment(Segment(storage: storage, index: nextSegment)))
        name = (nextSegment, value)
        return value
    }

    private mutating func writeSegment(_ line: Int, _ naming: Naming) throws(PlaylistError) {
        if isCut {
            omitSegment(line)
        } else {
            try restoreVectors(line, naming)
            if gaps.contains(nextSegment), nextSegment < storage.segments.count, !storage.segments[nextSegment].isGap {
                writer.insert([Tag.gap.rawValue], beforeLine: line)
            }
            let name = newName(naming)
            if let name {
                try writer.replaceURI(line: line, with: try view.checked(name))
            }
            isPreviousRenamed = name != nil
        }
        nextSegment += 1
    }

    /// Omits a renamed segment's range; else writes out an offset relative to a renamed or omitted segment.
    private mutating func writeByteRange(_ line: Int, _ naming: Naming) {
        guard !isCut else { return writer.drop(line: line) }
        guard nextSegment < storage.segments.count, let range = storage.segments[nextSegment].byteRange else { return }
        let isRenamed = newName(naming) != nil
        if isRenamed, !view.keepsByteRanges {
            return writer.drop(line: line)
        }
        version.need(4)
        if isRenamed || isPreviousRenamed || cut.isAtNeighbour, ByteRangeTag.isImplicit(storage.text, line) {
            writer.replace(storage.text.value(line), with: range.description)
        }
    }

    private mutating func writeKey(_ line: Int, _ naming: Naming) throws(PlaylistError) {
        let record = storage.keyRecords[Int(storage.keyOccurrences[nextKey])]
        nextKey += 1
        guard record.method != .none else { return }
        let name = naming(.key(Key(text: storage.text, record: record)))
        guard name != nil || view.isCorrected else { return }
        let attributes = storage.text.attributes(line)
        version.need(key: attributes)
        if let name {
            try rename(attributes, to: name)
        }
    }

    private mutating func writeMap(_ line: Int, _ naming: Naming) throws(PlaylistError) {
        guard let map = storage.map(nextMap) else { return }
        nextMap += 1
        version.needMap(isIFramesOnly: storage.header.isIFramesOnly)
        guard let name = naming(.map(map)) else { return }
        try rename(storage.text.attributes(line), to: name, without: ["BYTERANGE"])
    }

    /// Writes a line with a new URI, and without its range if that is a part of the new name.
    private mutating func rename(
        _ attributes: AttributeList, to name: String, without range: [String] = []
    ) throws(PlaylistError) {
        var edits = AttributeEdits()
        edits.set("URI", .quoted(try view.checked(name)))
        if !view.keepsByteRanges {
            for attribute in range {
                edits.set(attribute, .removed)
            }
        }
        try edits.apply(to: attributes, &writer)
    }

    /// Omits, from finished views, an interstitial whose presentation has no name: it would lead to the origin.
    private mutating func writeDateRange(_ line: Int, _ naming: Naming) throws(PlaylistError) {
        let range = storage.dateRanges[nextDateRange]
        nextDateRange += 1
        guard range.isInterstitial else { return }

        var uri: String?
        if range.assetURI != nil {
            uri = naming(.assetURI(range))
        }
        var list: String?
        if range.assetList != nil {
            list = naming(.assetList(range))
        }

        if view.isFinished, uri == nil, list == nil {
            return writer.drop(line: line)
        }

        var edits = AttributeEdits()
        for (attribute, name, old) in [("X-ASSET-URI", uri, range.assetURI), ("X-ASSET-LIST", list, range.assetList)] {
            if let name {
                edits.set(attribute, .quoted(try view.checked(name)))
            }
            if view.isFinished, name == nil, old != nil {
                edits.set(attribute, .removed)
            }
        }
        try edits.apply(to: range.attributes, &writer)
    }

    private mutating func writeType(_ line: Int) {
        guard view.isFinished else { return }
        if hasType {
            return writer.drop(line: line)
        }
        hasType = true
        if storage.text.bytes.matches(storage.text.value(line), "VOD") {
            return
        }
        writer.replace(storage.text.lines[line].content, with: Self.vodType)
    }

    /// Omits an offset that would point elsewhere now: the playlist still grew, or had the omitted segments.
    private mutating func writeStart(_ line: Int) throws(PlaylistError) {
        guard view.isCorrected, let start = storage.header.start, start.line == line + 1 else { return }
        let hasNewBeginning = selection != nil && selection?.numbers == nil
        let isCut = hasNewBeginning || omitsGaps && storage.segments.contains(where: \.isGap)
        let isForLive = view.isFinished && !storage.header.hasEndList && start.timeOffset.isBeforeEnd
        let isReplaced = view.startsAtBeginning && !view.isFinished
        if isCut || isForLive || isReplaced || view.isFinished && start.timeOffset.distance > storage.duration {
            return writer.drop(line: line)
        }
        guard let value = Start.reordered(storage.text.attributes(line)) else { return }
        writer.replace(storage.text.value(line), with: value)
    }
}

/// Low-latency tags: renamed if the view keeps them, otherwise omitted.
extension MediaPlaylistRenderer {
    private mutating func writeLowLatency(_ tag: Tag, line: Int, naming: Naming) throws(PlaylistError) {
        guard view.keepsLowLatency else { return writer.drop(line: line) }
        switch tag {
        case .part: try writePart(line, naming)
        case .preloadHint:
            nextHint += 1
            guard let name = naming(.preloadHint(storage.lowLatency.preloadHints[nextHint - 1])) else { return }
            let range = ["BYTERANGE-START", "BYTERANGE-LENGTH"]
            try rename(storage.text.attributes(line), to: name, without: range)
        case .renditionReport:
            let report = storage.lowLatency.renditionReports[nextReport]
            nextReport += 1
            guard let name = naming(.renditionReport(report)) else { return }
            try rename(storage.text.attributes(line), to: name)
        case .skip:
            let removed = storage.lowLatency.skip?.removedDateRanges ?? []
            version.needSkip(removesDateRanges: !removed.isEmpty)
        default: break
        }
    }

    /// Omits the range of a renamed part. Otherwise, writes out an offset that is relative to a renamed part.
    private mutating func writePart(_ line: Int, _ naming: Naming) throws(PlaylistError) {
        let part = PartialSegment(storage: storage, index: nextPart)
        nextPart += 1
        let name = naming(.part(part))
        let isNeighbourRenamed = name != nil || isPreviousPartRenamed
        isPreviousPartRenamed = name != nil
        guard isNeighbourRenamed else { return }
        let attributes = storage.text.attributes(line)
        var edits = AttributeEdits()
        edits.set("URI", quoted: name)
        if name != nil, !view.keepsByteRanges {
            edits.set("BYTERANGE", .removed)
        } else if let range = part.byteRange, attributes["BYTERANGE"]?.utf8.contains(UInt8(ascii: "@")) == false {
            edits.set("BYTERANGE", .quoted(range.description))
        }
        try edits.apply(to: attributes, &writer)
    }
}
