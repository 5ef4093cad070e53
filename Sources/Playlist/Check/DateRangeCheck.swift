/// EXT-X-DATERANGE lines, alone and by ID (rfc8216bis §4.4.5.1, appendix D).
struct DateRangeCheck {
    let playlist: MediaPlaylist

    /// Looks at every line.
    func run(_ findings: inout Findings) {
        guard let first = playlist.dateRanges.first else { return }
        if !playlist.segments.isEmpty, !playlist.segments.contains(where: { $0.programDateTime != nil }) {
            findings.add(.dateRange, line: first.line, "date ranges without any EXT-X-PROGRAM-DATE-TIME")
        }
        var starts: [String: DateTime] = [:]
        for range in playlist.dateRanges {
            check(range, &findings)
            guard let start = range.startDate else { continue }
            if let known = starts[range.id], known.milliseconds != start.milliseconds {
                findings.add(.dateRange, line: range.line, "another START-DATE than a line before with the same ID")
            }
            starts[range.id] = starts[range.id] ?? start
        }
    }

    private func check(_ range: DateRange, _ findings: inout Findings) {
        func tell(_ message: String) { findings.add(.dateRange, line: range.line, message) }
        for name in ["START-DATE", "END-DATE"] {
            if let text = range.attributes[name], DateTime(text) == nil { tell("\(name) cannot be read") }
        }
        if let start = range.startDate, let end = range.endDate {
            if end.milliseconds < start.milliseconds { tell("END-DATE lies before START-DATE") }
            if let duration = range.duration, let expected = start.adding(seconds: duration),
                abs(expected.milliseconds - end.milliseconds) > 1
            {
                tell("DURATION and END-DATE disagree")
            }
        }
        if range.endsOnNext {
            if range.rangeClass == nil { tell("END-ON-NEXT without CLASS") }
            if range.duration != nil || range.endDate != nil { tell("END-ON-NEXT with DURATION or END-DATE") }
        } else if range.attributes["END-ON-NEXT"] != nil {
            tell("END-ON-NEXT is not YES")
        }
        if Set(range.cues).isSuperset(of: ["PRE", "POST"]) { tell("CUE has both PRE and POST") }
        if range.assetURI != nil, range.assetList != nil { tell("both X-ASSET-URI and X-ASSET-LIST") }
    }
}
