struct MediaPlaylistCheck {
    let playlist: MediaPlaylist
    /// The text as written, without mends.
    let source: PlaylistText
    private var text: PlaylistText { playlist.text }

    func run(_ findings: inout Findings) {
        checkHeader(&findings)
        checkStart(&findings)
        checkKeys(&findings)
        checkVersion(&findings)
        SegmentCheck(playlist: playlist).run(&findings)
        LowLatencyCheck(playlist: playlist, source: source).run(&findings)
        DateRangeCheck(playlist: playlist).run(&findings)
    }

    private func checkHeader(_ findings: inout Findings) {
        if source.firstLine(.targetDuration) == nil {
            findings.add(.noTargetDuration, "EXT-X-TARGETDURATION is missing")
        }
        if let line = text.firstLine(.playlistType), playlist.playlistType == nil {
            findings.add(.unknownType, line: line + 1, "the playlist type is neither EVENT nor VOD")
        }
        if playlist.segments.isEmpty, playlist.parts.isEmpty {
            findings.add(.noSegments, "the playlist has no media segments")
        }
        if let line = text.firstLine(.skip), playlist.skip != nil {
            findings.add(
                .deltaUpdate, line: line + 1,
                "a delta update: the segments that it skips are only in an earlier playlist")
        }
        checkPositions(&findings)
    }

    /// The sequence numbers must precede the segments that they count.
    private func checkPositions(_ findings: inout Findings) {
        guard let first = playlist.segments.first?.line else { return }
        for tag in [Tag.mediaSequence, .discontinuitySequence] {
            guard let line = text.firstLine(tag), line + 1 > first else { continue }
            findings.add(
                .latePosition, line: line + 1, clause: tag.clause,
                "the number comes after the first segment: hls.js refuses the playlist")
        }
        if let number = text.firstLine(.discontinuitySequence), number + 1 < first,
            let before = text.firstLine(.discontinuity), before < number
        {
            findings.add(
                .latePosition, line: number + 1, clause: Tag.discontinuitySequence.clause,
                "the number comes after an EXT-X-DISCONTINUITY")
        }
    }

    private func checkStart(_ findings: inout Findings) {
        guard let start = playlist.start else { return }
        if start.timeOffset.distance > playlist.duration, findings.areTyped(["TIME-OFFSET"], line: start.line) {
            findings.add(
                .badStart, line: start.line,
                "the offset exceeds the playlist's duration of \(playlist.duration.seconds) s")
        }
        if Start.reordered(text.attributes(start.line - 1)) != nil {
            findings.add(.badStart, line: start.line, "libavformat reads TIME-OFFSET only as the first attribute")
        }
    }

    private func checkKeys(_ findings: inout Findings) {
        for key in playlist.usedKeys {
            if key.method == .other {
                findings.add(
                    .unknownMethod, line: key.line,
                    "HLS has no such METHOD: players that do not know it take the segments for clear ones")
            } else if key.uri.isEmpty, key.keyFormat == "identity" {
                findings.add(.noKeyURI, line: key.line, "the key has no URI: the segments cannot be decrypted")
            } else if key.needsDRM {
                // Another key of the segments may be had by everyone.
                let severity: PlaylistDiagnostic.Severity = playlist.needsDRM ? .error : .warning
                findings.add(
                    .needsDRM, severity: severity, line: key.line,
                    "KEYFORMAT \(PlaylistError.excerpt(of: key.keyFormat)) needs a content decryption module")
            } else if key.isData {
                findings.add(
                    .dataKey, line: key.line, "many players, such as VLC, do not read a key from a data: URI")
            }
        }
    }

    private func checkVersion(_ findings: inout Findings) {
        var needed = RequiredVersion(declared: 1)

        if playlist.isIFramesOnly {
            needed.need(4)
        }
        if !playlist.maps.isEmpty {
            needed.needMap(isIFramesOnly: playlist.isIFramesOnly)
        }
        if let skip = playlist.skip {
            needed.needSkip(removesDateRanges: !skip.removedDateRanges.isEmpty)
        }

        for key in playlist.keys {
            needed.need(key: key.attributes)
        }
        for segment in playlist.segments {
            if segment.byteRange != nil {
                needed.need(4)
            }
            if segment.durationText.utf8.contains(UInt8(ascii: ".")) {
                needed.need(3)
            }
        }

        needed.need(definitionsOf: text)
        needed.report(declared: playlist.version, for: text, source: source, &findings)
    }
}

extension PlaylistText {
    /// Returns the kind of a line, which is counted from 1; nil beyond the text.
    func kind(_ line: Int) -> Line.Kind? {
        guard lines.indices.contains(line - 1) else { return nil }
        return lines[line - 1].kind
    }

    /// Returns the index of the first line with a tag; nil without one.
    func firstLine(_ tag: Tag) -> Int? { lines.firstIndex { $0.kind == .tag(tag) } }
}

extension RequiredVersion {
    /// Reports a version that is lower than the text needs. `source` is the text without mends.
    func report(declared: Int, for text: PlaylistText, source: PlaylistText, _ findings: inout Findings) {
        guard number > declared else { return }
        let line = text.firstLine(.version) ?? source.firstLine(.version)
        var stated = "no version is stated"
        if text.firstLine(.version) != nil {
            stated = "the version is \(declared)"
        } else if line != nil {
            stated = "no valid version is stated"
        }
        var clause: String?
        if number > 7 {
            clause = CheckRule.versionHigh.clause
        }
        findings.add(
            .versionTooLow, line: line.map { $0 + 1 }, clause: clause,
            "\(stated), but the playlist needs version \(number)")
    }
}

/// Checks EXT-X-DATERANGE lines, each one and by ID (rfc8216bis §4.4.5.1, appendix D).
struct DateRangeCheck {
    let playlist: MediaPlaylist

    func run(_ findings: inout Findings) {
        guard let first = playlist.dateRanges.first else { return }
        // A delta update inherits the dates of the segments that it omits, and earlier date ranges.
        if !playlist.isDeltaUpdate, !playlist.segments.isEmpty,
            !playlist.segments.contains(where: { $0.programDateTime != nil })
        {
            findings.add(.dateRange, line: first.line, "the playlist has date ranges, but no EXT-X-PROGRAM-DATE-TIME")
        }

        var starts: [String: DateTime] = [:]
        var known: [String: [String: String]] = [:]
        for range in playlist.dateRanges {
            check(range, &findings)
            if let start = range.startDate, findings.areTyped(["START-DATE"], line: range.line) {
                if let known = starts[range.id], known.milliseconds != start.milliseconds {
                    findings.add(
                        .dateRange, line: range.line, "START-DATE differs from an earlier line with the same ID")
                }
                starts[range.id] = starts[range.id] ?? start
            }
            if !range.id.isEmpty {
                compare(range, with: &known[range.id, default: [:]], &findings)
            }
        }

        // In a live playlist the line with START-DATE may have gone with its segments.
        guard playlist.hasEndList, !playlist.isDeltaUpdate else { return }
        for range in playlist.dateRanges where !range.id.isEmpty && known[range.id]?["START-DATE"] == nil {
            findings.add(.dateRange, line: range.line, "no line with this ID has START-DATE: players ignore the range")
            known[range.id] = ["START-DATE": ""]
        }
    }

    /// Compares a line with the earlier ones of its ID. `known` are their attributes, to which those of the line are added.
    private func compare(_ range: DateRange, with known: inout [String: String], _ findings: inout Findings) {
        let list = range.attributes
        for attribute in list.attributes {
            let name = list.bytes.text(attribute.name)
            let value = list.bytes.text(attribute.value)
            if let before = known[name], before != value, name != "START-DATE",
                findings.areTyped([name], line: range.line)
            {
                findings.add(
                    .dateRange, line: range.line,
                    "\(PlaylistError.excerpt(of: name)) differs from an earlier line with the same ID")
            }
            known[name] = known[name] ?? value
        }
    }

    private func check(_ range: DateRange, _ findings: inout Findings) {
        func report(_ message: String) { findings.add(.dateRange, line: range.line, message) }
        func areTyped(_ names: String...) -> Bool { findings.areTyped(names, line: range.line) }

        for name in ["START-DATE", "END-DATE"] {
            if let text = range.attributes[name], DateTime(text) == nil, areTyped(name) {
                report("\(name) is not a valid date")
            }
        }

        if let start = range.startDate, let end = range.endDate, areTyped("START-DATE", "END-DATE") {
            if end.milliseconds < start.milliseconds {
                report("END-DATE is before START-DATE")
            }
            if let duration = range.duration, areTyped("DURATION"),
                let expected = start.adding(seconds: duration.seconds),
                abs(expected.milliseconds - end.milliseconds) > 1
            {
                report("DURATION and END-DATE disagree")
            }
        }

        if range.endsOnNext {
            if range.rangeClass == nil {
                report("END-ON-NEXT without CLASS")
            }
            if range.duration != nil || range.endDate != nil {
                report("END-ON-NEXT with DURATION or END-DATE")
            }
        } else if range.attributes["END-ON-NEXT"] != nil, areTyped("END-ON-NEXT") {
            report("END-ON-NEXT is not YES")
        }

        if Set(range.cues).isSuperset(of: ["PRE", "POST"]) {
            report("CUE has both PRE and POST")
        }
        if range.assetURI != nil, range.assetList != nil {
            report("both X-ASSET-URI and X-ASSET-LIST")
        }
    }
}

/// Checks low-latency tags against each other (rfc8216bis §4.4.3.7, §4.4.3.8, §4.4.4.9, appendix B).
struct LowLatencyCheck {
    let playlist: MediaPlaylist
    /// The text as written: an EXT-X-ENDLIST that a mend adds says nothing about the hints.
    let source: PlaylistText

    func run(_ findings: inout Findings) {
        guard playlist.isLowLatency else { return }
        if let hint = playlist.preloadHints.first, source.firstLine(.endList) != nil {
            findings.add(
                .lowLatency, line: hint.line, clause: Tag.preloadHint.clause,
                "a preload hint in a playlist that has ended")
        }
        checkControl(&findings)
        checkParts(&findings)
        checkHints(&findings)
        checkIndependence(&findings)
    }

    private func checkControl(_ findings: inout Findings) {
        guard let control = playlist.serverControl else {
            if let part = playlist.parts.first {
                findings.add(.lowLatency, line: part.line, "parts without EXT-X-SERVER-CONTROL")
            }
            return
        }

        let target = MediaDuration(seconds: Double(playlist.targetDuration ?? 0))
        func isTyped(_ name: String) -> Bool { findings.areTyped([name], line: control.line) }

        if let until = control.canSkipUntil, until < target * 6, isTyped("CAN-SKIP-UNTIL") {
            findings.add(.lowLatency, line: control.line, "CAN-SKIP-UNTIL is less than six target durations")
        }
        if let holdBack = control.holdBack, holdBack < target * 3, isTyped("HOLD-BACK") {
            findings.add(.lowLatency, line: control.line, "HOLD-BACK is less than three target durations")
        }
        if control.canSkipDateRanges, control.canSkipUntil == nil, isTyped("CAN-SKIP-UNTIL") {
            findings.add(.lowLatency, line: control.line, "CAN-SKIP-DATERANGES without CAN-SKIP-UNTIL")
        }

        guard let partTarget = playlist.partTarget else { return }
        if control.partHoldBack ?? .zero < partTarget * 2, isTyped("PART-HOLD-BACK") {
            var state = "is less than two part targets"
            if control.partHoldBack == nil {
                state = "is missing"
            }
            findings.add(.lowLatency, line: control.line, "PART-HOLD-BACK \(state)")
        }
        if !control.canBlockReload, isTyped("CAN-BLOCK-RELOAD") {
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
                "the part lasts \(part.duration.seconds) s, the part target is \(target.seconds) s")
        }
    }

    private func checkHints(_ findings: inout Findings) {
        for kind in [PreloadHint.Kind.part, .map] {
            guard let second = playlist.preloadHints.filter({ $0.kind == kind }).dropFirst().first else { continue }
            findings.add(
                .lowLatency, line: second.line, clause: Tag.preloadHint.clause,
                "a second preload hint of the same TYPE")
        }
    }

    /// Origins that never write INDEPENDENT say nothing about their segments.
    private func checkIndependence(_ findings: inout Findings) {
        let parts = playlist.parts
        guard playlist.hasIndependentSegments, parts.contains(where: \.isIndependent) else { return }
        let bySegment = Dictionary(grouping: parts) { Int($0.record.segment) }
        for (index, segment) in playlist.segments.enumerated() {
            guard let own = bySegment[index], !own.contains(where: { $0.isIndependent || $0.isGap }) else {
                continue
            }
            findings.add(
                .dependentSegment, line: segment.line,
                "EXT-X-INDEPENDENT-SEGMENTS, but no part of the segment has INDEPENDENT=YES")
        }
    }
}
