/// How many lines of each kind a pass has seen.
struct LowLatencyPlaces {
    /// EXT-X-PART lines.
    var part = 0
    /// EXT-X-PRELOAD-HINT lines.
    var hint = 0
    /// EXT-X-RENDITION-REPORT lines.
    var report = 0
    /// Whether the last part has another name than it had.
    var isPreviousRenamed = false
}

/// The tags of low latency: rewritten where the view keeps them, left out where it does not.
extension MediaPlaylistRenderer {
    /// Writes one line.
    mutating func writeLowLatency(
        _ tag: Tag, _ line: Int, _ naming: (MediaPlaylist.Reference) -> String?
    ) throws(PlaylistError) {
        guard view.keepsLowLatency else { return writer.drop(line: line) }
        switch tag {
        case .part: try writePart(line, naming)
        case .preloadHint: try writeHint(line, naming)
        case .renditionReport: try writeReport(line, naming)
        // Delta updates came with version 9, those that take date ranges out with 10.
        case .skip: version.need(storage.lowLatency.skip?.removedDateRanges.isEmpty ?? true ? 9 : 10)
        default: break
        }
    }

    /// A part with its own name needs no range; otherwise an offset that counted from a part which was renamed is
    /// written out.
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
