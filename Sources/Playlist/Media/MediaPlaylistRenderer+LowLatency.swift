/// Numbers of low-latency lines written so far.
struct LowLatencyCounts {
    var part = 0
    var hint = 0
    var report = 0
    /// True if the previous part was renamed.
    var isPreviousRenamed = false
}

/// Low-latency tags: renamed if the view keeps them, otherwise omitted.
extension MediaPlaylistRenderer {
    mutating func writeLowLatency(
        _ tag: Tag, _ line: Int, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        guard view.keepsLowLatency else { return writer.drop(line: line) }
        switch tag {
        case .part: try writePart(line, naming)
        case .preloadHint: try writeHint(line, naming)
        case .renditionReport: try writeReport(line, naming)
        // Delta updates need version 9; with removed date ranges, 10.
        case .skip: version.need(storage.lowLatency.skip?.removedDateRanges.isEmpty ?? true ? 9 : 10)
        default: break
        }
    }

    /// Omits the range of a renamed part. Otherwise, writes out an offset that is relative to a renamed part.
    private mutating func writePart(
        _ line: Int, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        let part = PartialSegment(storage: storage, index: nextLowLatency.part)
        nextLowLatency.part += 1
        let name = naming(.part(part))
        let isNeighbourRenamed = name != nil || nextLowLatency.isPreviousRenamed
        nextLowLatency.isPreviousRenamed = name != nil
        guard isNeighbourRenamed else { return }
        let attributes = try storage.text.attributes(line)
        var edits = AttributeEdits()
        edits.set("URI", quoted: name)
        if name != nil, !view.keepsByteRanges {
            edits.set("BYTERANGE", .removed)
        } else if let range = part.byteRange, attributes["BYTERANGE"]?.utf8.contains(UInt8(ascii: "@")) == false {
            edits.set("BYTERANGE", .quoted(range.description))
        }
        try edits.apply(to: attributes, &writer)
    }

    private mutating func writeHint(
        _ line: Int, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        let hint = storage.lowLatency.preloadHints[nextLowLatency.hint]
        nextLowLatency.hint += 1
        guard let name = naming(.preloadHint(hint)) else { return }
        var edits = AttributeEdits()
        edits.set("URI", .quoted(name))
        if !view.keepsByteRanges {
            edits.set("BYTERANGE-START", .removed)
            edits.set("BYTERANGE-LENGTH", .removed)
        }
        try edits.apply(to: try storage.text.attributes(line), &writer)
    }

    private mutating func writeReport(
        _ line: Int, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        let report = storage.lowLatency.renditionReports[nextLowLatency.report]
        nextLowLatency.report += 1
        guard let name = naming(.renditionReport(report)) else { return }
        var edits = AttributeEdits()
        edits.set("URI", .quoted(name))
        try edits.apply(to: try storage.text.attributes(line), &writer)
    }
}
