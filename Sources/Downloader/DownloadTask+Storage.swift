import Foundation
import Library
import Orders
import SafeText
import Store

/// Stored form of a task: JSON, without defaults. Keys and values never change; new keys may be added.
private struct StoredTask: Codable {
    struct Version: Codable {
        let version: Int
    }

    let version: Int
    let items: [DownloadTask.Item]
    let note: String?
    let priority: Priority?
    let recordsLive: Bool?
    let recordEnd: Int64?
    let rules: StoredRules?
    let pauseReason: String?
    /// Not read with the task: see `DownloadAccount.split`.
    var account: DownloadAccount?
}

extension DownloadAccount {
    /// Parses the JSON of `split`.
    init?(json text: String) {
        guard let account = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = account
    }

    /// Splits the stored form of a task from its account, which is then not parsed. Keys are sorted, so the account comes
    /// first.
    static func split(_ text: String) -> (task: String, account: String?) {
        let (head, tail) = ("{\"account\":", "},\"items\":")
        guard text.hasPrefix(head), let end = text.range(of: tail) else { return (text, nil) }
        let account = text[text.index(text.startIndex, offsetBy: head.utf8.count)..<end.lowerBound]
        return ("{" + text[text.index(end.lowerBound, offsetBy: 2)...], account + "}")
    }
}

/// Rules in the form in which users write them.
private struct StoredRules: Codable {
    let hours: [String]?
    let pausesOnMetered: Bool?
    let battery: String?
    let onlyIdle: Bool?

    init?(_ change: DownloadRules.Change) {
        guard !change.isEmpty else { return nil }
        hours = change.hours?.map(\.description)
        (pausesOnMetered, onlyIdle) = (change.pausesOnMetered, change.onlyIdle)
        battery = change.battery?.description
    }

    var change: DownloadRules.Change {
        var change = DownloadRules.Change()
        change.hours = hours?.compactMap { DayHours($0) }
        (change.pausesOnMetered, change.onlyIdle) = (pausesOnMetered, onlyIdle)
        change.battery = battery.flatMap { DownloadRules.Battery($0) }
        return change
    }
}

extension DownloadTask {
    /// The highest version that is read, and the one that is written.
    private static let version = 2

    struct UnknownVersion: Error, CustomStringConvertible {
        let version: Int
        var description: String { "it was written by a newer Weir (its task has version \(version))" }
    }

    /// The text for the catalogue.
    var stored: String { stored(with: nil) }

    func stored(with account: DownloadAccount?) -> String {
        let form = StoredTask(
            version: Self.version, items: items, note: note, priority: priority == .default ? nil : priority,
            recordsLive: recordsLive ? true : nil, recordEnd: recordEnd, rules: StoredRules(rules),
            pauseReason: pauseReason,
            account: account)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Encoding cannot fail: the values are strings, Booleans and finite numbers.
        return (try? encoder.encode(form)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// - Throws: `UnknownVersion` if a newer Weir wrote the text.
    init(stored text: String) throws {
        let decoder = JSONDecoder()
        var data = Data(text.utf8)
        let version = try decoder.decode(StoredTask.Version.self, from: data).version
        guard version <= Self.version else { throw UnknownVersion(version: version) }
        if version == 1 { data = try FirstStoredTask.upgraded(data) }

        let form = try decoder.decode(StoredTask.self, from: data)
        self.init()
        for item in form.items.reversed() { add(item) }
        note = form.note
        priority = form.priority ?? .default
        recordsLive = form.recordsLive ?? false
        recordEnd = form.recordEnd
        rules = form.rules?.change ?? DownloadRules.Change()
        pauseReason = form.pauseReason
    }
}

/// Reads the tasks of download records. Most records of a large store have equal text, which is parsed once.
struct TaskReader {
    private var known: [String: DownloadTask] = [:]

    /// A record without a task requests its renditions completely.
    mutating func task(of record: DownloadRecord) throws -> DownloadTask {
        guard let text = record.task else {
            var task = DownloadTask()
            task.add(
                .init(
                    Selection(subtitles: .nothing), renditions: record.renditions.split(separator: " ").map(String.init)
                ))
            return task
        }
        let stored = DownloadAccount.split(text).task
        if let task = known[stored] { return task }
        let task = try DownloadTask(stored: stored)
        known[stored] = task
        return task
    }
}
