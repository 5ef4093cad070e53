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

    struct Item: Codable {
        let selection: StoredSelection
        let start: Seconds?
        let end: Seconds?
        let renditions: [String]
        let otherQuality: String?
    }

    let version: Int
    let items: [Item]
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

private struct StoredSelection: Codable {
    /// One key names the rule.
    struct Quality: Codable {
        var best: Bool?
        var worst: Bool?
        var height: Int?
        var heightAtMost: Int?
        var minimumBandwidth: Int?
    }

    /// `"default"`, `"auto"`, `"all"`, `"none"`, or an array of languages.
    struct Choice: Codable {
        let value: Selection.Choice

        init(_ value: Selection.Choice) { self.value = value }

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let languages = try? container.decode([String].self) {
                value = .languages(languages)
                return
            }
            value =
                switch try container.decode(String.self) {
                case "all": .all
                case "auto": .auto
                case "none": .none
                default: .default
                }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case .default: try container.encode("default")
            case .auto: try container.encode("auto")
            case .all: try container.encode("all")
            case .none: try container.encode("none")
            case .languages(let languages): try container.encode(languages)
            }
        }
    }

    struct Preferences: Codable {
        let minimumBitRate: Int?
        let minimumWidth: Int?
        let minimumHeight: Int?
        let prefersHDR: Bool?
        let prefersMultichannel: Bool?
        let codecs: [String]?
        let languages: [String]?
        let locale: String?
        let isFast: Bool?
        let keepsInterstitials: Bool?
        let keepsTrickPlay: Bool?
    }

    let quality: Quality?
    let audio: Choice
    let subtitles: Choice
    let preferences: Preferences?
    let requirements: [VariantPredicate]?

    init(_ selection: Selection) {
        (audio, subtitles) = (Choice(selection.audio), Choice(selection.subtitles))
        quality =
            switch selection.quality {
            case .best?: Quality(best: true)
            case .worst?: Quality(worst: true)
            case .height(let height)?: Quality(height: height)
            case .heightAtMost(let height)?: Quality(heightAtMost: height)
            case .minimumBandwidth(let bandwidth)?: Quality(minimumBandwidth: bandwidth)
            case nil: nil
            }
        requirements = selection.requirements.isEmpty ? nil : selection.requirements
        let wishes = selection.preferences
        guard wishes != Selection.Preferences() else {
            preferences = nil
            return
        }
        preferences = Preferences(
            minimumBitRate: wishes.minimumBitRate, minimumWidth: wishes.minimumWidth,
            minimumHeight: wishes.minimumHeight, prefersHDR: wishes.prefersHDR ? true : nil,
            prefersMultichannel: wishes.prefersMultichannel ? true : nil,
            codecs: wishes.codecs.isEmpty ? nil : wishes.codecs,
            languages: wishes.languages.isEmpty ? nil : wishes.languages, locale: wishes.locale,
            isFast: wishes.isFast ? true : nil, keepsInterstitials: wishes.keepsInterstitials ? true : nil,
            keepsTrickPlay: wishes.keepsTrickPlay ? true : nil)
    }

    var selection: Selection {
        var wishes = Selection.Preferences()
        if let preferences {
            wishes.minimumBitRate = preferences.minimumBitRate
            wishes.minimumWidth = preferences.minimumWidth
            wishes.minimumHeight = preferences.minimumHeight
            wishes.prefersHDR = preferences.prefersHDR ?? false
            wishes.prefersMultichannel = preferences.prefersMultichannel ?? false
            wishes.codecs = preferences.codecs ?? []
            wishes.languages = preferences.languages ?? []
            wishes.locale = preferences.locale
            wishes.isFast = preferences.isFast ?? false
            wishes.keepsInterstitials = preferences.keepsInterstitials ?? false
            wishes.keepsTrickPlay = preferences.keepsTrickPlay ?? false
        }
        let rule = quality.map { quality -> Selection.Quality in
            if let height = quality.height { return .height(height) }
            if let height = quality.heightAtMost { return .heightAtMost(height) }
            if let bandwidth = quality.minimumBandwidth { return .minimumBandwidth(bandwidth) }
            return quality.worst == nil ? .best : .worst
        }
        return Selection(
            quality: rule, audio: audio.value, subtitles: subtitles.value, preferences: wishes,
            requirements: requirements ?? [])
    }
}

extension DownloadTask {
    /// The highest version that is read, and the one that is written.
    private static let version = 1

    struct UnknownVersion: Error, CustomStringConvertible {
        let version: Int
        var description: String { "it was written by a newer Weir (its task has version \(version))" }
    }

    /// The text for the catalogue.
    var stored: String { stored(with: nil) }

    func stored(with account: DownloadAccount?) -> String {
        let items = items.map { item in
            StoredTask.Item(
                selection: StoredSelection(item.selection),
                start: item.range.map { Seconds(clamping: $0.lowerBound) },
                end: item.range.map { Seconds(clamping: $0.upperBound) },
                renditions: item.renditions, otherQuality: item.otherQuality)
        }
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
        let (data, decoder) = (Data(text.utf8), JSONDecoder())
        let version = try decoder.decode(StoredTask.Version.self, from: data).version
        guard version <= Self.version else { throw UnknownVersion(version: version) }
        let form = try decoder.decode(StoredTask.self, from: data)
        self.init()
        for item in form.items.reversed() {
            var range: Range<Double>?
            if let start = item.start, let end = item.end, start < end { range = start.value..<end.value }
            add(
                Item(
                    item.selection.selection, range: range, renditions: item.renditions,
                    otherQuality: item.otherQuality))
        }
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
            task.add(.init(Selection(), renditions: record.renditions.split(separator: " ").map(String.init)))
            return task
        }
        let stored = DownloadAccount.split(text).task
        if let task = known[stored] { return task }
        let task = try DownloadTask(stored: stored)
        known[stored] = task
        return task
    }
}
