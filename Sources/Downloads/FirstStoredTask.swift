import Foundation

/// The JSON of a task as builds before version 2 stored it: with grammars of its own for
/// selections and rules, and with the account of the download. Pure.
enum FirstStoredTask {
    private typealias Object = [String: Any]

    /// Returns the JSON of version 2. What it does not know stays as it is, so that reading it reports the fault.
    static func upgraded(_ json: Data) throws -> Data {
        guard var task = try JSONSerialization.jsonObject(with: json) as? Object else { return json }
        if let items = task["items"] as? [Object] {
            task["items"] = items.map(item)
        }
        task["rules"] = (task["rules"] as? Object).map(rules)
        return try JSONSerialization.data(withJSONObject: task)
    }

    /// The account of the download, which a task of version 1 contained; nil for none, and for another version.
    static func account(in text: String) -> String? {
        struct Stored: Decodable {
            let version: Int
            let account: DownloadAccount?
        }
        let stored = try? JSONDecoder().decode(Stored.self, from: Data(text.utf8))
        return stored?.version == 1 ? stored?.account?.stored : nil
    }

    private static func rules(_ stored: Object) -> Object {
        var rules = stored
        rules["metered"] = nil
        if let pausesOnMetered = stored["pausesOnMetered"] as? Bool {
            rules["metered"] = pausesOnMetered ? "pause" : "allow"
        }
        rules["onBattery"] = stored["battery"]
        return rules
    }

    private static func item(_ stored: Object) -> Object {
        var item = stored
        item["selection"] = (stored["selection"] as? Object).map(selection)
        if let start = stored["start"] as? Double, let end = stored["end"] as? Double, start < end {
            item["range"] = [start, end < openEnd ? end as Any : NSNull()]
        }
        return item
    }

    /// An open end was stored as a time later than the end of any media.
    private static let openEnd = 1e9

    private static func selection(_ stored: Object) -> Object {
        var selection = stored
        selection["quality"] = (stored["quality"] as? Object).map(quality)
        for key in ["audio", "subtitles"] {
            if let languages = stored[key] as? [String] {
                selection[key] = languages.joined(separator: ",")
            }
        }
        selection["preferences"] = (stored["preferences"] as? Object).map(preferences)
        selection["conditions"] = (stored["requirements"] as? [Object])?.map { condition($0, isNegated: false) }
        return selection
    }

    /// One key named the rule: `{"height":720}`.
    private static func quality(_ stored: Object) -> String {
        if let height = stored["height"] as? Int {
            return "\(height)p"
        }
        if let height = stored["heightAtMost"] as? Int {
            return "<=\(height)p"
        }
        if let rate = stored["minimumBandwidth"] as? Int {
            return "\(rate)"
        }
        return stored["worst"] == nil ? "best" : "worst"
    }

    private static func preferences(_ stored: Object) -> Object {
        var preferences = stored
        let width = stored["minimumWidth"] as? Int
        let height = stored["minimumHeight"] as? Int
        if let height {
            preferences["minimumSize"] = "\(height)p"
            if let width {
                preferences["minimumSize"] = "\(width)x\(height)"
            }
        }
        return preferences
    }

    // MARK: Conditions

    private static let attributes = [
        "peakBitRate": "peak", "averageBitRate": "average", "width": "width", "height": "height", "frameRate": "fps",
        "channels": "channels",
    ]

    /// A predicate, as Swift encodes an enum: `{"height":{"_0":{"atMost":{"_0":1080}}}}`.
    private static func condition(_ stored: Object, isNegated: Bool) -> String {
        guard let (name, value) = payload(stored) else { return "" }
        let equal = isNegated ? "!=" : "="
        switch name {
        case "not":
            guard let inner = value as? Object else { return "" }
            return condition(inner, isNegated: !isNegated)
        case "videoRange": return "range\(equal)\((value as? [String] ?? []).joined(separator: ","))"
        case "codec": return "codec\(equal)\(value)"
        case "any":
            let members = value as? [Object] ?? []
            let codecs = members.compactMap { payload($0)?.value as? String }
            return "codec\(equal)\(codecs.joined(separator: ","))"
        default:
            guard let attribute = attributes[name], let (bound, number) = (value as? Object).flatMap(payload) else {
                return ""
            }
            let comparison =
                switch bound {
                case "atMost": isNegated ? ">" : "<="
                case "atLeast": isNegated ? "<" : ">="
                default: equal
                }
            return "\(attribute)\(comparison)\(number)"
        }
    }

    private static func payload(_ stored: Object) -> (name: String, value: Any)? {
        guard let (name, content) = stored.first, let value = (content as? Object)?["_0"] else { return nil }
        return (name, value)
    }
}
