import API

/// A download for `weir show`: what becomes of it, and how far each of its tracks is.
enum DownloadText {
    static func lines(_ download: API.Download) -> [String] {
        let important = download.priority == .important ? "important" : nil
        let cause = download.state == .complete ? nil : download.error?.message
        let state = ["download: \(download.stateWords)", important, download.rangeWords, cause].compactMap(\.self)
        let table = TextTable(rows: [["TRACK", "DONE", "TIME", "SIZE"]] + download.parts.map(row))
        return ["", state.joined(separator: "  ")] + (download.parts.isEmpty ? [] : table.lines)
    }

    private static func row(_ part: API.Download.Part) -> [String] {
        let size =
            part.isComplete
            ? Format.bytes(part.bytes) : "\(Format.bytes(part.bytes)) of \(Format.estimate(part.totalBytes))"
        return [part.id, Format.percent(part.fraction), time(part), size]
    }

    /// `4:00 of 10:00`.
    private static func time(_ part: API.Download.Part) -> String {
        let seconds: ([API.Download.TimeRange]) -> Double = { $0.reduce(0) { $0 + $1.end - $1.start } }
        return "\(Format.clock(seconds(part.loaded))) of \(Format.clock(seconds(part.expected)))"
    }
}
