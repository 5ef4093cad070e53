import Orders
import WeirAPI

/// A JSON object on one line. Its keys keep the order in which they were added.
struct JSONLine {
    private var members: [String] = []

    /// Creates a line of version 1 with a kind, under `v` and `t`.
    init(_ kind: String) {
        add("v", 1)
        add("t", kind)
    }

    /// The result of a command that has failed, and has no result of its own.
    static func result(of failure: CommandFailure) -> String {
        var line = JSONLine("result")
        line.add(failure)
        return line.text
    }

    /// Adds a key with a value, unless the value is nil.
    mutating func add(_ key: String, _ value: (some Encodable)?) {
        // The API's shapes, strings and integers can always be encoded.
        guard let value, let text = try? API.encode(value) else { return }
        members.append("\"\(key)\":" + String(decoding: text, as: UTF8.self))
    }

    /// Adds the last keys of each result: `error` with its code, message and next step, `reasons` of the exit code 3, and `exit`.
    mutating func add(_ failure: CommandFailure?) {
        if let failure {
            var error = ["code": failure.code, "message": failure.message]
            error["next"] = failure.next
            add("error", error)
            if !failure.reasons.isEmpty {
                add("reasons", failure.reasons)
            }
        }
        add("exit", failure?.exitCode ?? 0)
    }

    var text: String { "{" + members.joined(separator: ",") + "}" }
}

/// Output of `get --json`: `selection-resolved` for each selection, `selections-further` if there are other tracks, a
/// `progress` object for each change, `selection-complete` for each selection, and one `result`.
enum DownloadRecord {
    static func progress(_ download: API.Download) -> String {
        var line = JSONLine("progress")
        line.add("id", download.asset)
        line.add("stage", download.stage?.rawValue ?? download.state.rawValue)
        line.add("loaded", download.loaded)
        line.add("duration", download.duration)
        line.add("bytes", download.bytes)
        line.add("arriving", download.arriving)
        line.add("rate", download.rate)
        line.add("silence", download.silence)
        line.add("eta", download.eta)
        line.add("fraction", download.fraction)
        line.add("need", download.need)
        line.add("reasons", download.reasons)
        return line.text
    }

    static func selection(_ kind: String, _ selected: API.Download.Selected, of download: API.Download) -> String {
        let ids: Set<String?> = Set(selected.renditions.map { $0.id })
        var tracks = download.selection
        tracks.variants.removeAll { !ids.contains($0.id) }
        tracks.audio.removeAll { !ids.contains($0.id) }
        tracks.subtitles.removeAll { !ids.contains($0.id) }
        var line = JSONLine(kind)
        line.add("id", download.asset)
        line.add("range", selected.range)
        line.add("selection", tracks)
        return line.text
    }

    static func further(_ tracks: API.Tracks, of download: API.Download) -> String {
        var line = JSONLine("selections-further")
        line.add("id", download.asset)
        line.add("unselected", tracks)
        return line.text
    }

    /// The final line; `download` is nil if the download did not start.
    static func result(_ download: API.Download?, url: String?, path: String? = nil, failure: CommandFailure?) -> String
    {
        var line = JSONLine("result")
        line.add("id", download?.asset)
        line.add("state", download?.state.rawValue ?? "failed")
        line.add("need", download?.need)
        line.add("loaded", download?.loaded)
        line.add("duration", download?.duration)
        line.add("bytes", download?.bytes)
        line.add("url", url)
        line.add("path", path)
        line.add("summary", download?.summary)
        line.add(failure)
        return line.text
    }
}
