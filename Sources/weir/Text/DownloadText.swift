import Orders
import WeirAPI

/// Text of a download for `weir show`: its state and the progress of each track.
enum DownloadText {
    static func lines(_ download: API.Download) -> [String] {
        var state = ["download: \(download.stateWords)"]
        if download.priority == .important {
            state.append("important")
        }
        if let range = download.rangeWords {
            state.append(range)
        }
        let reasons = download.reasons?.map(\.message).joined(separator: ", and ")
        if download.state != .complete, let cause = reasons ?? download.error?.message {
            state.append(cause)
        }

        var lines = ["", state.joined(separator: "  ")]
        if let summary = download.summary {
            lines += SummaryText.lines(summary)
        }
        if !download.parts.isEmpty {
            lines += TextTable(rows: [["TRACK", "DONE", "TIME", "SIZE"]] + download.parts.map(row)).lines
        }
        return lines
    }

    private static func row(_ part: API.Download.Part) -> [String] {
        var size = Format.bytes(part.bytes)
        if !part.isComplete {
            let total = part.totalBytes.map(Format.estimate) ?? "unknown"
            size += " of \(total)"
        }
        return [part.id, Format.percent(part.fraction), time(part), size]
    }

    /// Loaded and expected time: `4:00 of 10:00`.
    private static func time(_ part: API.Download.Part) -> String {
        let seconds: ([API.Download.TimeRange]) -> Double = { $0.reduce(0) { $0 + $1.end - $1.start } }
        return "\(Format.clock(seconds(part.loaded))) of \(Format.clock(seconds(part.expected)))"
    }
}

extension API.Download {
    /// The state in a few words: `waiting for space`.
    var stateWords: String {
        if let activity = AssetState(activity: state, isRecording: isRecording ?? false) {
            // An origin that answers with an error was reached.
            if activity == .waiting, need == .network, let code = error?.code,
                code == .badOrigin || code == .originRefused
            {
                return "waiting to try again"
            }
            return activity.words(need)
        }
        guard state == .complete else { return state.rawValue }
        return AssetState.saved.words
    }

    /// The selected range if it is not the whole media: `only 10:00-20:04`.
    var rangeWords: String? {
        guard let duration, !expected.isEmpty, let wanted = expectedDuration, wanted < duration - 0.5 else {
            return nil
        }
        return "only " + Format.ranges(expected)
    }
}

extension AssetState {
    /// The state in a few words, with the condition that it waits for: `waiting for space`.
    func words(_ need: Need?) -> String {
        guard self == .waiting, let need else { return words }
        return "\(words) for \(need.words)"
    }
}
