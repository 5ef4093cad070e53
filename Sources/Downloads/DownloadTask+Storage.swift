import Foundation
import Orders
import Store

/// The stored form of a task: JSON without defaults. Keys and values never change; new keys may be added.
extension DownloadTask: Codable {
    private enum Key: String, CodingKey {
        case version, items, note, priority, recordsLive, recordEnd, recordFrom, rules, pauseReason, givenUp
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        self = DownloadTask().with(try values.decode([Item].self, forKey: .items))
        note = try values.decodeIfPresent(String.self, forKey: .note)
        priority = try values.decodeIfPresent(Priority.self, forKey: .priority) ?? .default
        recordsLive = try values.decodeIfPresent(Bool.self, forKey: .recordsLive) ?? false
        recordEnd = try values.decodeIfPresent(Int64.self, forKey: .recordEnd)
        recordFrom = try values.decodeIfPresent(RecordingStart.self, forKey: .recordFrom)
        rules = try values.decodeIfPresent(DownloadRules.Change.self, forKey: .rules) ?? DownloadRules.Change()
        pauseReason = try values.decodeIfPresent(String.self, forKey: .pauseReason)
        givenUp = try values.decodeIfPresent(GivenUp.self, forKey: .givenUp)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(Self.version, forKey: .version)
        try values.encode(items, forKey: .items)
        try values.encodeIfPresent(note, forKey: .note)
        if priority != .default {
            try values.encode(priority, forKey: .priority)
        }
        if recordsLive {
            try values.encode(recordsLive, forKey: .recordsLive)
        }
        try values.encodeIfPresent(recordEnd, forKey: .recordEnd)
        try values.encodeIfPresent(recordFrom, forKey: .recordFrom)
        if !rules.isEmpty {
            try values.encode(rules, forKey: .rules)
        }
        try values.encodeIfPresent(pauseReason, forKey: .pauseReason)
        try values.encodeIfPresent(givenUp, forKey: .givenUp)
    }

    // MARK: The text in the catalogue

    /// The highest version that is read, and the one that is written.
    private static let version = 2

    private struct Version: Decodable {
        let version: Int
    }

    struct UnknownVersion: Error, CustomStringConvertible {
        let version: Int
        var description: String { "it was written by a newer Weir (its task has version \(version))" }
    }

    /// The text for the catalogue.
    var stored: String { CatalogueText.of(self) }

    /// - Throws: `UnknownVersion` if a newer Weir wrote the text.
    init(stored text: String) throws {
        var data = Data(text.utf8)
        let version = try JSONDecoder().decode(Version.self, from: data).version
        guard version <= Self.version else { throw UnknownVersion(version: version) }

        if version == 1 {
            data = try FirstStoredTask.upgraded(data)
        }
        self = try JSONDecoder().decode(Self.self, from: data)
    }
}

extension DownloadTask.Item: Codable {
    private enum Key: String, CodingKey {
        case selection, range, renditions, shortfall
        /// Earlier builds stored the sentence alone.
        case otherQuality
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        var shortfall = try values.decodeIfPresent(Shortfall.self, forKey: .shortfall)
        if shortfall == nil, let sentence = try values.decodeIfPresent(String.self, forKey: .otherQuality) {
            shortfall = Shortfall(.quality, sentence)
        }
        self.init(
            try values.decode(Selection.self, forKey: .selection),
            range: try values.decodeIfPresent(MediaRange.self, forKey: .range),
            renditions: try values.decode([String].self, forKey: .renditions),
            shortfall: shortfall)
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(selection, forKey: .selection)
        try values.encodeIfPresent(range, forKey: .range)
        try values.encode(renditions, forKey: .renditions)
        try values.encodeIfPresent(shortfall, forKey: .shortfall)
    }
}

extension DownloadAccount {
    /// The text for the catalogue.
    var stored: String { CatalogueText.of(self) }

    /// Reads the text in the catalogue; nil for a damaged one.
    init?(stored text: String) {
        guard let account = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = account
    }
}

private enum CatalogueText {
    /// JSON with sorted keys: equal values have equal texts.
    static func of(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Encoding cannot fail: the values are strings, Booleans and finite numbers.
        let bytes = try? encoder.encode(value)
        return String(decoding: bytes ?? Data(), as: UTF8.self)
    }
}

/// Reads the tasks of download records. Most records of a large store have equal text, which is parsed once.
struct TaskReader {
    private struct Known {
        let task: DownloadTask
        /// The account in a task of version 1.
        let account: String?
    }

    private var known: [String: Known] = [:]

    /// Returns the task and the text of the account. A record without a task requests its renditions completely.
    mutating func read(_ record: DownloadRecord) throws -> (task: DownloadTask, account: String?) {
        guard let text = record.task else {
            let renditions = record.renditions.split(separator: " ").map(String.init)
            var task = DownloadTask()
            task.add(DownloadTask.Item(Selection(subtitles: .nothing), renditions: renditions))
            return (task, record.account)
        }
        if let known = known[text] {
            return (known.task, record.account ?? known.account)
        }

        let task = try DownloadTask(stored: text)
        let account = record.account == nil ? FirstStoredTask.account(in: text) : nil
        known[text] = Known(task: task, account: account)
        return (task, record.account ?? account)
    }
}
