import API

/// A JSON object on one line. Its keys keep the order in which they were added.
struct JSONLine {
    private var members: [String] = []

    /// Creates a line of version 1 with a kind, under `v` and `t`.
    init(_ kind: String) {
        add("v", 1)
        add("t", kind)
    }

    /// Adds a key with a value, unless the value is nil.
    mutating func add(_ key: String, _ value: (some Encodable)?) {
        // The API's shapes, strings and integers can always be encoded.
        guard let value, let text = try? API.encode(value) else { return }
        members.append("\"\(key)\":" + String(decoding: text, as: UTF8.self))
    }

    var text: String { "{" + members.joined(separator: ",") + "}" }
}

/// Output of `get --json`: a `progress` object for each change, and one `result`.
enum DownloadRecord {
    static func progress(_ download: API.Download) -> String {
        var line = JSONLine("progress")
        line.add("id", download.asset)
        line.add("stage", download.stage ?? download.state.rawValue)
        line.add("loaded", download.loaded)
        line.add("duration", download.duration)
        line.add("bytes", download.bytes)
        line.add("rate", download.rate)
        line.add("eta", download.eta)
        line.add("fraction", download.fraction)
        line.add("need", download.need)
        return line.text
    }

    /// The final line; `download` is nil if the download did not start.
    static func result(_ download: API.Download?, url: String?, failure: Failure?) -> String {
        var line = JSONLine("result")
        line.add("id", download?.asset)
        line.add("state", download?.state.rawValue ?? "failed")
        line.add("need", download?.need)
        line.add("loaded", download?.loaded)
        line.add("duration", download?.duration)
        line.add("bytes", download?.bytes)
        line.add("url", url)
        line.add("error", failure.map { ["code": $0.code, "message": $0.message] })
        line.add("exit", failure?.exitCode ?? 0)
        return line.text
    }
}
