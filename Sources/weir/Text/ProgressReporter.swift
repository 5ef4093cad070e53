import Orders
import WeirAPI

/// Decides what to print while a download is followed. Has no clock: the caller passes the time with each state.
struct ProgressReporter {
    enum Style: Equatable {
        /// JSON objects on standard output.
        case json
        case drawn(hasColor: Bool)
        /// Lines on standard error, few enough for a log.
        case plain
    }

    enum Action: Equatable {
        case output(String)
        case error(String)
        /// A part of a terminal's line, with control sequences.
        case drawing(String)
    }

    private let style: Style
    private let urls: PlayerURL
    private var isIntroduced = false
    private var isDrawn = false
    private var last: API.Download?
    private var lastLine: (time: Duration, tenth: Int)?
    /// The last line about a stream that has not begun.
    private var lastWait: (time: Duration, reason: String)?
    /// The last download whose sentence about other content was written.
    private var changed: String?
    /// The download whose selections were written, and the renditions of those that are complete.
    private var resolved: String?
    private var complete: Set<[String]> = []

    init(style: Style, urls: PlayerURL) {
        self.style = style
        self.urls = urls
    }

    /// The output for a state; `time` counts from the start.
    mutating func report(_ download: API.Download, at time: Duration, columns: Int) -> [Action] {
        defer {
            last = download
            // Only the first response has `unselected`. Its absence later is not a change.
            last?.unselected = nil
        }
        switch style {
        case .json:
            guard download != last else { return [] }
            return otherContent(download) + selections(download) + [.output(DownloadRecord.progress(download))]
                + completions(download)
        case .drawn(let hasColor):
            let line = ProgressLine(download: download).drawn(columns: columns, hasColor: hasColor)
            let introduction = otherContent(download) + introduction(download)
            var actions: [Action] = []
            if !introduction.isEmpty {
                actions = clearing + introduction
            }
            isDrawn = true
            return actions + [.drawing("\r\(line)\u{1B}[K")]
        case .plain:
            return otherContent(download) + introduction(download) + plainLine(download, at: time)
        }
    }

    /// The output while the command waits for a stream to begin: a line for each new reason, and the time; on a terminal
    /// the time is redrawn, elsewhere it is a line every ten minutes.
    ///
    /// - Parameters:
    ///   - time: time waited so far.
    ///   - rest: time until the next look.
    mutating func wait(for time: Duration, because reason: String, rest: Duration) -> [Action] {
        let waited = Format.clock(Double(time.components.seconds))
        var actions: [Action] = []
        if lastWait?.reason != reason {
            var notice = "waiting for the stream to begin: \(reason)\n"
            if lastWait == nil {
                notice += "This may take any time; Ctrl-C ends the wait.\n"
            }
            actions = clearing + [.error(notice)]
            lastWait = (time, reason)
        } else if let last = lastWait, style == .plain, time - last.time >= .seconds(600) {
            actions = [.error("waiting for the stream to begin, for \(waited): \(reason)\n")]
            lastWait = (time, reason)
        }
        guard case .drawn = style else { return actions }

        isDrawn = true
        let exact = Double(rest.components.seconds) + Double(rest.components.attoseconds) / 1e18
        let seconds = max(1, Int(exact.rounded(.up)))
        return actions + [.drawing("\rwaiting for \(waited), next look in \(seconds) s\u{1B}[K")]
    }

    /// The output at the end of the following, before any other message.
    ///
    /// - Parameter start: the start of the following, in seconds since 1970: an account from before is left out.
    mutating func finish(_ download: API.Download, since start: Int = 0) -> [Action] {
        var actions = leave()
        guard style != .json else { return actions }

        if download.state.isFinal, let summary = download.summary, summary.ended >= start {
            for line in SummaryText.lines(summary) {
                actions.append(.error(line + "\n"))
            }
        }
        if download.state == .complete {
            let sentence =
                "\(download.asset) is \(download.stateWords), \(Format.bytes(download.bytes)). Play it: weir play \(download.asset)\n"
            actions.append(.error(sentence))
        }
        return actions
    }

    /// The objects for the selections of a download that was not reported before, and for the tracks beside them.
    private mutating func selections(_ download: API.Download) -> [Action] {
        guard resolved != download.id, let selections = download.selections else { return [] }
        resolved = download.id
        complete = []
        var actions: [Action] = []
        for selection in selections {
            actions.append(.output(DownloadRecord.selection("selection-resolved", selection, of: download)))
        }
        if let further = download.unselected, !further.choices.isEmpty {
            actions.append(.output(DownloadRecord.further(further, of: download)))
        }
        return actions
    }

    private mutating func completions(_ download: API.Download) -> [Action] {
        var actions: [Action] = []
        for selected in download.selections ?? [] where selected.isComplete {
            let identity = selected.renditions.map(\.id) + ["\(selected.range as Any)"]
            if complete.insert(identity).inserted {
                actions.append(.output(DownloadRecord.selection("selection-complete", selected, of: download)))
            }
        }
        return actions
    }

    /// The output when the followed download was replaced by that of new content.
    mutating func change(to download: API.Download) -> [Action] {
        // While the old content plays, `report` writes the sentence of the new one.
        guard download.otherContent == nil else { return [] }
        return clearing
            + [.error("\(download.asset): the origin has other content now, which has replaced the old\n")]
    }

    /// The sentence of a download of new content, once.
    private mutating func otherContent(_ download: API.Download) -> [Action] {
        guard let sentence = download.otherContent, changed != download.id else { return [] }
        changed = download.id
        return [.error("\(download.asset): \(sentence)\n")]
    }

    mutating func leave() -> [Action] {
        guard isDrawn else { return [] }
        return [.error("\n")]
    }

    /// Erases the line that is drawn on the terminal, if there is one.
    private var clearing: [Action] {
        guard isDrawn else { return [] }
        return [.drawing("\r\u{1B}[K")]
    }

    /// The headline, the unselected tracks and the player URL, once the selection is known.
    private mutating func introduction(_ download: API.Download) -> [Action] {
        guard !isIntroduced, !download.selection.variants.isEmpty || download.state.isFinal else { return [] }
        isIntroduced = true

        var lines = [Self.headline(download)]
        if let shortfall = download.shortfall {
            lines.append("note:  \(shortfall.message)")
        }
        if let others = download.unselected?.choices, !others.isEmpty {
            lines.append("also available:  \(others.joined(separator: ", "))")
        }
        lines.append("play now:  mpv \(urls.asset(named: download.asset))")
        return lines.map { .error($0 + "\n") }
    }

    /// The headline: `sintel  14:48  720p avc1 2.1 Mb/s + audio en   about 240 MB`.
    static func headline(_ download: API.Download) -> String {
        var parts = [download.title ?? download.asset]
        if let duration = download.duration {
            parts.append(Format.clock(duration))
        }
        if let range = download.rangeWords {
            parts.append(range)
        }
        if !download.selection.summary.isEmpty {
            parts.append(download.selection.summary)
        }

        let line = parts.joined(separator: "  ")
        if download.state == .complete {
            return "\(line)   \(Format.bytes(download.bytes))"
        }
        if let total = download.totalBytes {
            return "\(line)   \(Format.estimate(total))"
        }
        let isUnknown = !download.parts.isEmpty && download.isRecording != true
        return isUnknown ? "\(line)   size unknown" : line
    }

    /// A line for each new state and each tenth, and otherwise every five seconds.
    private mutating func plainLine(_ download: API.Download, at time: Duration) -> [Action] {
        let tenth = Int((download.loadedFraction ?? 0) * 10)
        if let lastLine, download.state == last?.state, download.need == last?.need,
            tenth == lastLine.tenth, time - lastLine.time < .seconds(5)
        {
            return []
        }

        lastLine = (time, tenth)
        return [.error(ProgressLine(download: download).plain + "\n")]
    }
}
