/// One pass over the lines that writes a view.
struct MediaPlaylistRenderer {
    let storage: MediaPlaylist.Storage
    let view: MediaPlaylistView
    var writer: TextWriter
    /// The places of the next lines of low latency.
    var nextLowLatency = LowLatencyPlaces()
    private var nextSegment = 0
    private var nextKey = 0
    private var nextMap = 0
    private var hasType = false
    /// The new name of the segment whose lines are being written, asked for at the first of them that needs it.
    private var name: (segment: Int, value: String?)?
    private var isPreviousRenamed = false

    /// Prepares a pass.
    init(storage: MediaPlaylist.Storage, view: MediaPlaylistView) {
        self.storage = storage
        self.view = view
        writer = TextWriter(storage.text)
    }

    /// Writes every line.
    mutating func run(_ naming: (MediaPlaylist.Reference) -> String?) throws(PlaylistError) -> [UInt8] {
        let lines = storage.text.lines
        let lacksType = !lines.contains { $0.kind == .tag(.playlistType) }
        for line in lines.indices {
            if line == 1, view.isFinished, lacksType { writer.insert([Self.vodType], beforeLine: line) }
            switch lines[line].kind {
            case .blank, .comment: break
            case .uri: try writeSegment(line, naming)
            case .tag(let tag): try write(tag, line, naming)
            }
        }
        if view.isFinished, !storage.header.hasEndList {
            writer.insert([Tag.endList.rawValue], beforeLine: lines.count)
        }
        return writer.finished()
    }

    private static let vodType = "\(Tag.playlistType.rawValue):VOD"

    private mutating func write(
        _ tag: Tag, _ line: Int, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        switch tag {
        case .playlistType: writeType(line)
        case .byteRange: writeByteRange(line, naming)
        case .key: try writeKey(line, naming)
        case .map: try writeMap(line, naming)
        // Variables have been replaced, which players of today rely on: most cannot do it.
        case .define: writer.drop(line: line)
        default: if tag.isLowLatency { try writeLowLatency(tag, line, naming) }
        }
    }
}

extension MediaPlaylistRenderer {
    private mutating func newName(_ naming: (MediaPlaylist.Reference) -> String?) -> String? {
        if let name, name.segment == nextSegment { return name.value }
        guard nextSegment < storage.segments.count else { return nil }
        let value = naming(.segment(Segment(storage: storage, index: nextSegment)))
        name = (nextSegment, value)
        return value
    }

    private mutating func writeSegment(
        _ line: Int, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        let name = newName(naming)
        if let name { try writer.replaceURI(line: line, with: name) }
        isPreviousRenamed = name != nil
        nextSegment += 1
    }

    /// Drops the range of a segment that has its own name now; otherwise an offset that counted from a neighbour which
    /// was renamed is written out.
    private mutating func writeByteRange(_ line: Int, _ naming: (MediaPlaylist.Reference) -> String?) {
        guard nextSegment < storage.segments.count, let range = storage.segments[nextSegment].byteRange else { return }
        let isRenamed = newName(naming) != nil
        if isRenamed, !view.keepsByteRanges {
            writer.drop(line: line)
        } else if isRenamed || isPreviousRenamed, ByteRangeTag.isImplicit(storage.text, line) {
            writer.replace(storage.text.value(line), with: range.description)
        }
    }

    private mutating func writeKey(
        _ line: Int, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        let record = storage.keyRecords[Int(storage.keyOccurrences[nextKey])]
        nextKey += 1
        guard record.method != .none, let name = naming(.key(Key(text: storage.text, record: record))) else { return }
        var edits = AttributeEdits()
        edits.set("URI", .quoted(name))
        try edits.apply(to: try storage.text.attributes(line), &writer)
    }

    private mutating func writeMap(
        _ line: Int, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        guard let map = storage.map(nextMap) else { return }
        nextMap += 1
        guard let name = naming(.map(map)) else { return }
        var edits = AttributeEdits()
        edits.set("URI", .quoted(name))
        if !view.keepsByteRanges { edits.set("BYTERANGE", .removed) }
        try edits.apply(to: try storage.text.attributes(line), &writer)
    }

    private mutating func writeType(_ line: Int) {
        guard view.isFinished else { return }
        if hasType { return writer.drop(line: line) }
        hasType = true
        if storage.text.bytes.matches(storage.text.value(line), "VOD") { return }
        writer.replace(storage.text.lines[line].content, with: Self.vodType)
    }
}
