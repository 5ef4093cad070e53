struct MediaPlaylistCheck {
    let playlist: MediaPlaylist
    private var text: PlaylistText { playlist.text }

    func run(_ findings: inout Findings) {
        checkHeader(&findings)
        checkStart(&findings)
        checkKeys(&findings)
        checkVersion(&findings)
        SegmentCheck(playlist: playlist).run(&findings)
        LowLatencyCheck(playlist: playlist).run(&findings)
        DateRangeCheck(playlist: playlist).run(&findings)
    }

    private func checkHeader(_ findings: inout Findings) {
        if line(of: .targetDuration) == nil { findings.add(.noTargetDuration, "EXT-X-TARGETDURATION is missing") }
        if let line = line(of: .playlistType), playlist.playlistType == nil {
            findings.add(.unknownType, line: line + 1, "the playlist type is neither EVENT nor VOD")
        }
        if playlist.segments.isEmpty, playlist.parts.isEmpty {
            findings.add(.noSegments, "the playlist has no media segments")
        }
        if let skip = playlist.skip {
            findings.add(.deltaUpdate, line: skip.line, "a delta update is useful only with an earlier playlist")
        }
        checkPositions(&findings)
    }

    /// The sequence numbers must precede the segments that they count.
    private func checkPositions(_ findings: inout Findings) {
        guard let first = playlist.segments.first?.line else { return }
        for tag in [Tag.mediaSequence, .discontinuitySequence] {
            guard let line = line(of: tag), line + 1 > first else { continue }
            findings.add(.latePosition, line: line + 1, clause: tag.clause, "the number comes after the first segment")
        }
    }

    private func checkStart(_ findings: inout Findings) {
        guard let start = playlist.start else { return }
        if abs(start.timeOffset) > playlist.duration {
            findings.add(
                .badStart, line: start.line, "the offset exceeds the playlist's duration of \(playlist.duration) s")
        }
        if let attributes = try? text.attributes(start.line - 1), Start.reordered(attributes) != nil {
            findings.add(.badStart, line: start.line, "libavformat reads TIME-OFFSET only as the first attribute")
        }
    }

    private func checkKeys(_ findings: inout Findings) {
        for key in playlist.usedKeys {
            if key.method == .other {
                findings.add(
                    .unknownMethod, line: key.line,
                    "unknown METHOD: players play the segments as if they were not encrypted")
            } else if key.needsDRM {
                findings.add(
                    .needsDRM, line: key.line,
                    "KEYFORMAT \(PlaylistError.excerpt(of: key.keyFormat)) needs a content decryption module")
            } else if key.isData {
                findings.add(.dataKey, line: key.line, "few players read a key from a data: URI")
            }
        }
    }

    private func checkVersion(_ findings: inout Findings) {
        var needed = RequiredVersion(declared: 1)
        if playlist.isIFramesOnly { needed.need(4) }
        if !playlist.maps.isEmpty { needed.need(playlist.isIFramesOnly ? 5 : 6) }
        if let skip = playlist.skip { needed.need(skip.removedDateRanges.isEmpty ? 9 : 10) }
        for key in playlist.keys { needed.need(key: key.attributes) }
        for segment in playlist.segments {
            if segment.byteRange != nil { needed.need(4) }
            if segment.durationText.utf8.contains(UInt8(ascii: ".")) { needed.need(3) }
        }
        needed.need(definitionsOf: text)
        needed.report(declared: playlist.version, line: line(of: .version), &findings)
    }

    private func line(of tag: Tag) -> Int? { text.lines.firstIndex { $0.kind == .tag(tag) } }
}

extension RequiredVersion {
    /// Reports a version that is lower than the text needs. `line` is an index.
    func report(declared: Int, line: Int?, _ findings: inout Findings) {
        guard number > declared else { return }
        let stated = line == nil ? "no version is stated" : "the version is \(declared)"
        findings.add(.versionTooLow, line: line.map { $0 + 1 }, "\(stated), but the playlist needs version \(number)")
    }
}

/// Checks EXT-X-DATERANGE lines, each one and by ID (rfc8216bis §4.4.5.1, appendix D).
struct DateRangeCheck {
    let playlist: MediaPlaylist

    func run(_ findings: inout Findings) {
        guard let first = playlist.dateRanges.first else { return }
        if !playlist.segments.isEmpty, !playlist.segments.contains(where: { $0.programDateTime != nil }) {
            findings.add(.dateRange, line: first.line, "the playlist has date ranges, but no EXT-X-PROGRAM-DATE-TIME")
        }
        var starts: [String: DateTime] = [:]
        for range in playlist.dateRanges {
            check(range, &findings)
            guard let start = range.startDate else { continue }
            if let known = starts[range.id], known.milliseconds != start.milliseconds {
                findings.add(.dateRange, line: range.line, "START-DATE differs from an earlier line with the same ID")
            }
            starts[range.id] = starts[range.id] ?? start
        }
    }

    private func check(_ range: DateRange, _ findings: inout Findings) {
        func report(_ message: String) { findings.add(.dateRange, line: range.line, message) }
        for name in ["START-DATE", "END-DATE"] {
            if let text = range.attributes[name], DateTime(text) == nil { report("\(name) is not a valid date") }
        }
        if let start = range.startDate, let end = range.endDate {
            if end.milliseconds < start.milliseconds { report("END-DATE is before START-DATE") }
            if let duration = range.duration, let expected = start.adding(seconds: duration),
                abs(expected.milliseconds - end.milliseconds) > 1
            {
                report("DURATION and END-DATE disagree")
            }
        }
        if range.endsOnNext {
            if range.rangeClass == nil { report("END-ON-NEXT without CLASS") }
            if range.duration != nil || range.endDate != nil { report("END-ON-NEXT with DURATION or END-DATE") }
        } else if range.attributes["END-ON-NEXT"] != nil {
            report("END-ON-NEXT is not YES")
        }
        if Set(range.cues).isSuperset(of: ["PRE", "POST"]) { report("CUE has both PRE and POST") }
        if range.assetURI != nil, range.assetList != nil { report("both X-ASSET-URI and X-ASSET-LIST") }
    }
}

/// Checks low-latency tags against each other (rfc8216bis §4.4.3.7, §4.4.3.8, §4.4.4.9, appendix B).
struct LowLatencyCheck {
    let playlist: MediaPlaylist

    func run(_ findings: inout Findings) {
        guard playlist.isLowLatency else { return }
        if playlist.hasEndList, let line = playlist.parts.first?.line ?? playlist.preloadHints.first?.line {
            findings.add(.lowLatency, line: line, "parts or preload hints in a playlist that has ended")
        }
        checkControl(&findings)
        checkParts(&findings)
    }

    private func checkControl(_ findings: inout Findings) {
        guard let control = playlist.serverControl else {
            if let part = playlist.parts.first {
                findings.add(.lowLatency, line: part.line, "parts without EXT-X-SERVER-CONTROL")
            }
            return
        }
        let target = Double(playlist.targetDuration ?? 0)
        if let until = control.canSkipUntil, until < 6 * target {
            findings.add(.lowLatency, line: control.line, "CAN-SKIP-UNTIL is less than six target durations")
        }
        if let holdBack = control.holdBack, holdBack < 3 * target {
            findings.add(.lowLatency, line: control.line, "HOLD-BACK is less than three target durations")
        }
        if control.canSkipDateRanges, control.canSkipUntil == nil {
            findings.add(.lowLatency, line: control.line, "CAN-SKIP-DATERANGES without CAN-SKIP-UNTIL")
        }
        guard let partTarget = playlist.partTarget else { return }
        if control.partHoldBack ?? 0 < 2 * partTarget {
            let state = control.partHoldBack == nil ? "is missing" : "is less than two part targets"
            findings.add(.lowLatency, line: control.line, "PART-HOLD-BACK \(state)")
        }
        if !control.canBlockReload {
            findings.add(
                .lowLatency, line: control.line, "parts without CAN-BLOCK-RELOAD: players have to poll for them")
        }
    }

    private func checkParts(_ findings: inout Findings) {
        guard let first = playlist.parts.first else { return }
        guard let target = playlist.partTarget else {
            findings.add(.lowLatency, line: first.line, clause: Tag.partInf.clause, "parts without EXT-X-PART-INF")
            return
        }
        for part in playlist.parts where part.duration > target + 0.0005 {
            findings.add(
                .lowLatency, line: part.line, clause: Tag.part.clause,
                "the part lasts \(part.duration) s, the part target is \(target) s")
        }
    }
}
