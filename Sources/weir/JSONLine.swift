import API

/// A JSON object on one line whose keys stand in the order in which they were added.
struct JSONLine {
    private var members: [String] = []

    /// Adds a key with a value; one that is nil is left out.
    mutating func add(_ key: String, _ value: (some Encodable)?) {
        // What is added are the API's shapes, strings and whole numbers: always JSON.
        guard let value, let text = try? API.encode(value) else { return }
        members.append("\"\(key)\":" + String(decoding: text, as: UTF8.self))
    }

    var text: String { "{" + members.joined(separator: ",") + "}" }
}

/// Output of `get --json`: a `progress` object for each change, and one `result`.
enum DownloadRecord {
    private static let version = 1

    static func progress(_ download: API.Download) -> String {
        var line = JSONLine()
        line.add("v", version)
        line.add("t", "progress")
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

    /// The end, good or bad; `download` is nil when there never was one.
    static func result(_ download: API.Download?, url: String?, failure: Failure?) -> String {
        var line = JSONLine()
        line.add("v", version)
        line.add("t", "result")
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
