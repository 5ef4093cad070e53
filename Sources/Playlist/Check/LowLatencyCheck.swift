/// What the tags of low latency promise, against each other (rfc8216bis §4.4.3.7, §4.4.3.8, §4.4.4.9, appendix B).
struct LowLatencyCheck {
    let playlist: MediaPlaylist

    /// Looks at parts and at what the server answers to.
    func run(_ findings: inout Findings) {
        guard playlist.isLowLatency else { return }
        if playlist.hasEndList, let line = playlist.parts.first?.line ?? playlist.preloadHints.first?.line {
            findings.add(.lowLatency, line: line, "parts and hints in a playlist that has ended")
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
