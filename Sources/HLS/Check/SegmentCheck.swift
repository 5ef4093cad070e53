/// Checks a media playlist's segments, each one and against the previous one.
struct SegmentCheck {
    let playlist: MediaPlaylist

    /// File name extensions that libavformat accepts for media segments.
    private static let extensions: Set<String> = [
        "ts", "m4s", "mp4", "cmfv", "cmfa", "cmft", "m4a", "m4v", "aac", "mp3", "ac3", "eac3", "ec3", "vtt", "webvtt",
        "mpegts", "m2t", "m2ts", "mov", "wav", "fmp4", "mpg", "mpeg", "mp2", "flac", "ogg", "3gp",
    ]
    private static let transportStreams: Set<String> = ["ts", "m2t", "m2ts", "mpegts"]

    /// Bytes of PAT and PMT, one packet each.
    private static let tableSize = 376

    func run(_ findings: inout Findings) {
        var previous: Segment?
        var clock: (date: DateTime, seconds: Double)?
        var firstOffsets: [String: Int] = [:]
        // Its segments are sheets of thumbnails, which no demuxer reads, and each of which has a target duration of its own.
        let isOfImages = playlist.text.lines.contains { line in
            line.kind == .tag(.unknown) && playlist.text.bytes.matches(line.content, "#EXT-X-IMAGES-ONLY")
        }
        for segment in playlist.segments {
            if playlist.isIFramesOnly, let offset = segment.byteRange?.offset, firstOffsets[segment.uri] == nil {
                firstOffsets[segment.uri] = offset
            }
            if !isOfImages {
                checkDuration(segment, &findings)
                checkName(of: segment, firstOffset: firstOffsets[segment.uri], &findings)
                checkMap(segment, after: previous, &findings)
                if segment.isGap {
                    findings.add(.gap, line: segment.line, "libavformat and VLC request the segment despite EXT-X-GAP")
                }
            }
            checkDate(of: segment, clock: &clock, &findings)
            previous = segment
        }
    }

    private func checkDuration(_ segment: Segment, _ findings: inout Findings) {
        let line = Int(segment.record.infLine)
        if let target = playlist.targetDuration, segment.duration.roundedSeconds > target {
            findings.add(
                .durationOverTarget, line: line + 1,
                "the segment lasts \(segment.durationText) s, the target duration is \(target) s")
        }
    }

    /// Returns the file name extension in small letters; empty without one.
    private func fileExtension(_ segment: Segment) -> String {
        let path = segment.uri.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let file = path.split(separator: UInt8(ascii: "/")).last ?? path[...]
        let ending = file.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard ending.count > 1, let last = ending.last else { return "" }
        return String(Substring(last)).lowercased()
    }

    /// `firstOffset` is the start of the first range of the segment's resource.
    private func checkName(of segment: Segment, firstOffset: Int?, _ findings: inout Findings) {
        let name = fileExtension(segment)
        let offset = segment.byteRange?.offset ?? 0
        let firstOffset = firstOffset ?? 0
        if !Self.extensions.contains(name) {
            findings.add(
                .segmentExtension, line: segment.line,
                "libavformat (ffmpeg, mpv) may reject a segment whose name does not end as that of media")
        } else if segment.map == nil, playlist.isIFramesOnly, Self.transportStreams.contains(name),
            offset > 0, firstOffset < Self.tableSize
        {
            // Clients take the bytes before the first range of the resource for its tables.
            findings.add(
                .noTables, line: segment.line,
                "no EXT-X-MAP, and no room for PAT and PMT before the file's first range: players guess the format")
        } else if segment.map == nil, !playlist.isDeltaUpdate, ["m4s", "mp4", "cmfv", "cmfa", "cmft"].contains(name) {
            findings.add(.noMap, line: segment.line, "an MP4 segment, by its name, without EXT-X-MAP before it")
        }
    }

    private func checkMap(_ segment: Segment, after previous: Segment?, _ findings: inout Findings) {
        guard let map = segment.map else { return }
        if segment.isDiscontinuity, previous != nil, !Self.transportStreams.contains(fileExtension(segment)) {
            findings.add(.fragmentedDiscontinuity, line: segment.line, "VLC stops at a discontinuity in fragmented MP4")
        }
        if let before = previous?.map, before.index != map.index {
            findings.add(
                .mapChange, line: map.line,
                "libavformat plays garbage if the new initialization section changes the codec parameters")
        }
    }

    private func checkDate(
        of segment: Segment, clock: inout (date: DateTime, seconds: Double)?, _ findings: inout Findings
    ) {
        if let text = segment.programDateTime {
            let line = Int(segment.record.dateLine) + 1
            if let date = DateTime(text) {
                // Dates without a zone have no other letter or sign in their last characters.
                if clock == nil, !text.utf8.suffix(6).contains(where: { "Zz+-".utf8.contains($0) }) {
                    findings.add(.dateZone, line: line, "the date has no time zone: players take it as UTC or as local")
                }
                let expected = clock.flatMap { $0.date.adding(seconds: $0.seconds) }
                if let expected, !segment.isDiscontinuity, date.milliseconds < expected.milliseconds - 1000 {
                    findings.add(.dateBackwards, line: line, "the date is before the end of the previous segments")
                }
                clock = (date, 0)
            } else {
                findings.add(.badDate, line: line, "the date is not valid")
            }
        }
        clock?.seconds += segment.duration.seconds
    }
}
