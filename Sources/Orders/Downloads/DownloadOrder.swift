/// A user's order for one asset: begins a download, or adds to an existing one. Absent keys leave a matter as it is.
package struct DownloadOrder: Equatable, Sendable {
    /// In JSON its keys are beside the others.
    package var selection: Selection
    /// Further selections of the same download, after this one. Shared renditions are fetched once.
    package var additional: [Selection]?
    /// The range of media time; absent for all of it. It is extended to whole segments.
    package var range: MediaRange?
    package var note: String?
    /// The priority; absent for `default`, or for the former priority of an existing download.
    package var priority: Priority?
    /// True to record a live stream until it ends. Without it, a live stream is refused.
    package var record: Bool?
    /// Seconds from now after which a recording ends; absent for its own end.
    package var recordSeconds: Int64?
    /// The beginning of a recording; absent for `now`.
    package var recordFrom: RecordingStart?
    /// True to start even if the disk has too little space for the expected size.
    package var ignoreSpace: Bool?
    /// True to create the download as paused; it begins when it is resumed.
    package var paused: Bool?
    /// Rules for when it may run; those of an existing download are changed.
    package var rules: DownloadRules.Change?

    package init(_ selection: Selection = Selection(), _ additional: Selection..., range: MediaRange? = nil) {
        self.selection = selection
        if !additional.isEmpty {
            self.additional = additional
        }
        self.range = range
    }

    /// The selections, the most important first.
    package var selections: [Selection] { [selection] + (additional ?? []) }

    /// The order, with defaults for the keys that its selections leave out.
    package func with(defaults: Selection) -> Self {
        var all = self
        all.selection = selection.with(defaults: defaults)
        all.additional = additional?.map { $0.with(defaults: defaults) }
        return all
    }

    /// Takes over the keys that another order has.
    package mutating func adopt(_ other: Self) {
        selection.adopt(other.selection)
        additional = other.additional ?? additional
        range = other.range ?? range
        note = other.note ?? note
        priority = other.priority ?? priority
        record = other.record ?? record
        recordSeconds = other.recordSeconds ?? recordSeconds
        recordFrom = other.recordFrom ?? recordFrom
        ignoreSpace = other.ignoreSpace ?? ignoreSpace
        paused = other.paused ?? paused
        rules = other.rules ?? rules
    }

    /// The contradiction in the order, as a sentence that names the field to leave out; nil if there is none.
    package var contradiction: String? {
        if record == true, range != nil {
            return "a recording has no range: give only one of the two"
        }
        if let recordSeconds {
            guard record == true else { return "only a recording ends after a time: give it with record" }
            guard (1...Self.longestRecording).contains(recordSeconds) else {
                return "a recording ends after 1 second to ten years"
            }
        }
        if let recordFrom {
            guard record == true else { return "only a recording has a beginning: give it with record" }
            if case .ago(let ago) = recordFrom, let recordSeconds, recordSeconds <= ago {
                return "the recording would end before now: give a longer time, or a later beginning"
            }
        }
        return selections.lazy.compactMap(\.contradiction).first
    }

    private static let longestRecording: Int64 = 10 * 366 * 86_400
}

extension DownloadOrder: Codable {
    /// The keys beside those of the selection.
    private enum Key: String, CodingKey {
        case additional, range, note, priority, record, recordSeconds, recordFrom, ignoreSpace, paused, rules
    }

    package init(from decoder: any Decoder) throws {
        selection = try Selection(from: decoder)
        let values = try decoder.container(keyedBy: Key.self)
        additional = try values.decodeIfPresent([Selection].self, forKey: .additional)
        range = try values.decodeIfPresent(MediaRange.self, forKey: .range)
        note = try values.decodeIfPresent(String.self, forKey: .note)
        priority = try values.decodeIfPresent(Priority.self, forKey: .priority)
        record = try values.decodeIfPresent(Bool.self, forKey: .record)
        recordSeconds = try values.decodeIfPresent(Int64.self, forKey: .recordSeconds)
        recordFrom = try values.decodeIfPresent(RecordingStart.self, forKey: .recordFrom)
        ignoreSpace = try values.decodeIfPresent(Bool.self, forKey: .ignoreSpace)
        paused = try values.decodeIfPresent(Bool.self, forKey: .paused)
        rules = try values.decodeIfPresent(DownloadRules.Change.self, forKey: .rules)
    }

    package func encode(to encoder: any Encoder) throws {
        try selection.encode(to: encoder)
        var values = encoder.container(keyedBy: Key.self)
        try values.encodeIfPresent(additional, forKey: .additional)
        try values.encodeIfPresent(range, forKey: .range)
        try values.encodeIfPresent(note, forKey: .note)
        try values.encodeIfPresent(priority, forKey: .priority)
        try values.encodeIfPresent(record, forKey: .record)
        try values.encodeIfPresent(recordSeconds, forKey: .recordSeconds)
        try values.encodeIfPresent(recordFrom, forKey: .recordFrom)
        try values.encodeIfPresent(ignoreSpace, forKey: .ignoreSpace)
        try values.encodeIfPresent(paused, forKey: .paused)
        try values.encodeIfPresent(rules, forKey: .rules)
    }
}
