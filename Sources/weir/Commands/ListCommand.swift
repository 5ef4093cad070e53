import ArgumentParser
import Daemon
import Foundation
import Orders
import WeirAPI

struct ListCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List assets and downloads.", aliases: ["ls"])

    @Argument(
        help: ArgumentHelp(
            "With --channels: lists only those whose name, title or group has this text.", valueName: "text"))
    var text: String?
    @Flag(help: "List the channels of channel lists in place of assets.")
    var channels = false
    @Option(
        name: .customLong("is"),
        help: ArgumentHelp(
            """
            List only assets with this word in the column STATE: \(ListedAsset.states.joined(separator: ", ")). May be repeated; \
            one of the words must fit.
            """, valueName: "state"), transform: Self.state)
    var states: [String] = []
    @Flag(help: "List only assets that play without the network.")
    var offline = false
    @Flag(help: "Write one JSON object per line.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard text == nil || channels else {
            throw ValidationError("A text is for --channels; \"weir show NAME\" shows one asset.")
        }
    }

    private static func state(_ word: String) throws -> String {
        guard !ListedAsset.states.contains(word) else { return word }
        let known = ListedAsset.states.joined(separator: ", ")
        var message = "the states are \(known)"
        if let nearest = NearestName.of(word, in: ListedAsset.states) {
            message = "did you mean \"\(nearest)\"?"
        }
        throw ValidationError(message)
    }

    func execute() async throws {
        let daemon = try common.daemon()
        if channels {
            return try write(try await daemon.client.channels(with: text))
        }
        guard !json else {
            let assets = try await daemon.client.assets().filter { isListed(ListedAsset($0)) }
            return Output.records(try assets.map { String(decoding: try API.encode($0), as: UTF8.self) })
        }

        let assets = try await daemon.client.assets(as: ListedAsset.self, isBrief: true).filter(isListed)
        let listsPlans = !offline && (states.isEmpty || states.contains(AssetState.scheduled.rawValue))
        let plans = listsPlans ? try await daemon.client.plannedRecordings() : []
        let lists = listsPlans ? try await daemon.client.channelLists() : []
        guard !assets.isEmpty || !plans.isEmpty || !lists.isEmpty else {
            return Output.error(Self.emptiness(states, offline: offline, urls: daemon.urls))
        }
        // A title that is too long must not break the lines of a terminal.
        var table = Self.table(assets, plans)
        if Terminal.showsOutput {
            table = table.cutting("TITLE", to: Terminal.size().columns)
        }
        Output.lines(table.lines + [Self.totals(assets)] + lists.map { "list \($0.name): \($0.words)" })
    }

    private func write(_ found: API.Channels) throws {
        guard !json else { return try found.channels.forEach { try Output.json($0) } }
        guard !found.channels.isEmpty else {
            return Output.error("no channels\ntry: weir add URL, of a channel list\n")
        }
        let rows = found.channels.map { channel in
            let group = channel.group ?? "–"
            let title = channel.title ?? ""
            return [channel.name, channel.guideID ?? "–", group, title]
        }
        var table = TextTable(rows: [["NAME", "GUIDE", "GROUP", "TITLE"]] + rows)
        if Terminal.showsOutput {
            table = table.cutting("TITLE", to: Terminal.size().columns)
        }
        var totals = Format.count(found.count, "channel")
        if found.count > found.channels.count {
            totals += ", of which the first \(found.channels.count) are shown"
        }
        Output.lines(table.lines + [totals])
    }

    private func isListed(_ asset: ListedAsset) -> Bool {
        (!offline || asset.playsWithoutNetwork) && (states.isEmpty || states.contains(where: asset.has))
    }

    static func emptiness(_ states: [String] = [], offline: Bool, urls: PlayerURL) -> String {
        guard states.isEmpty else {
            // A priority is no state of assets, and is listed by its own name.
            let words = states.map { state in
                AssetState(rawValue: state)?.words ?? state
            }
            return "no asset is \(words.joined(separator: " or "))\n"
        }
        let fact = offline ? "no asset plays without the network yet" : "no assets yet"
        return "\(fact)\ntry: weir get URL, or play \(urls.origin(url: "URL"))\n"
    }

    /// The line under the table: `3 assets, 151 MB, 2 saved`.
    static func totals(_ assets: [ListedAsset]) -> String {
        let saved = assets.count { $0.has(AssetState.saved.rawValue) }
        let bytes = Format.bytes(assets.reduce(0) { $0 + $1.bytes })
        return "\(Format.count(assets.count, "asset")), \(bytes), \(saved) \(AssetState.saved.words)"
    }

    static func table(_ assets: [ListedAsset], _ plans: [API.ScheduledRecording] = []) -> TextTable {
        var heading = ["NAME", "TIME", "SEEN", "QUALITY", "SIZE", "STATE"]
        // Titles are long, and come last.
        if assets.contains(where: { $0.title != nil }) {
            heading.append("TITLE")
        }
        var rows = [heading] + rows(assets, plans)
        if !assets.contains(where: { $0.seen != nil }) {
            for index in rows.indices {
                rows[index].remove(at: seenColumn)
            }
        }
        return TextTable(rows: rows)
    }

    private static let seenColumn = 2

    /// The rows, those of recordings and plans below the row of their channel and indented.
    private static func rows(_ assets: [ListedAsset], _ plans: [API.ScheduledRecording]) -> [[String]] {
        let names = Set(assets.map(\.name))
        var recordings: [String: [ListedAsset]] = [:]
        var others: [ListedAsset] = []
        for asset in assets {
            if let channel = asset.recordingOf, names.contains(channel) {
                recordings[channel, default: []].append(asset)
            } else {
                others.append(asset)
            }
        }

        var planned = Dictionary(grouping: plans, by: \.channel)
        var rows: [[String]] = []
        for asset in others {
            rows.append(asset.row)
            for recording in recordings[asset.name] ?? [] {
                var row = recording.row
                row[0] = "  " + row[0]
                rows.append(row)
            }
            for plan in planned.removeValue(forKey: asset.name) ?? [] {
                rows.append(row(of: plan, indent: "  "))
            }
        }
        for plan in plans where planned[plan.channel] != nil {
            rows.append(row(of: plan, indent: ""))
        }
        return rows
    }

    private static func row(of plan: API.ScheduledRecording, indent: String) -> [String] {
        var words = plan.words
        if plan.begin != nil {
            words = "\(AssetState.scheduled.words): \(words)"
        }
        return [indent + plan.name, "–", "–", "–", "–", words, plan.title ?? ""]
    }
}

extension API.ChannelList {
    /// The state of the list: `3,000 channels, read 2026-11-28 20:15`.
    var words: String {
        if isReading == true {
            return "its channels are being read from the disk"
        }
        var words = [Format.count(channels, "channel")]
        if let hidden {
            words.append("\(hidden) hidden")
        }
        if let leftOut {
            words.append("\(leftOut) left out, which are no HLS")
        }
        if let fetched {
            words.append("read \(TimeText.words(fetched))")
        } else {
            words.append("not read yet")
        }
        if let problem {
            words.append("not read since: \(problem)")
        }
        return words.joined(separator: ", ")
    }
}

extension APIClient {
    /// The channels with a text in their names, titles or groups; all of them without one.
    func channels(with text: String?) async throws(APIError) -> API.Channels {
        var query = "?limit=100000"
        if let text {
            query = API.query("find", text) + "&limit=100000"
        }
        return try await call(Endpoints.channels, query: query)
    }

    /// The channel lists; none if the daemon is of an earlier Weir, which has none.
    func channelLists() async throws(APIError) -> [API.ChannelList] {
        do throws(APIError) {
            return try await call(Endpoints.lists).lists
        } catch {
            guard error.code == .noSuchRoute else { throw error }
            return []
        }
    }

    /// The planned recordings; none if the daemon is of an earlier Weir, which has no such list.
    func plannedRecordings() async throws(APIError) -> [API.ScheduledRecording] {
        do throws(APIError) {
            return try await call(Endpoints.recordings).recordings
        } catch {
            guard error.code == .noSuchRoute else { throw error }
            return []
        }
    }
}

/// The keys of `API.Asset` that `weir list` prints. Decoding the others would take most of the time of a long list.
struct ListedAsset: Decodable, Sendable {
    let name: String
    let title: String?
    /// The name of a recording's channel.
    let recordingOf: String?
    private let duration: Double?
    private let position: Double?
    private let isWatched: Bool?
    private let isLive: Bool
    private let quality: String?
    let bytes: Int
    private let local: Playability.Answer
    private let state: AssetState
    private let stored: AssetState
    private let need: Need?
    private let reason: String?
    private let volume: API.Volume?
    private let storage: API.Storage?
    private let keys: API.KeySummary?
    private let isKnownOnly: Bool?
    private let isInsecure: Bool?
    private let hasChanged: Bool?
    private let ranges: [API.Download.TimeRange]?
    private let shortfall: Shortfall?

    init(_ asset: API.Asset) {
        name = asset.name
        duration = asset.duration
        position = asset.position
        isWatched = asset.isWatched
        isLive = asset.isLive
        quality = asset.quality ?? asset.tracks.storedQuality
        bytes = asset.bytes
        local = asset.local
        state = asset.state
        stored = asset.stored
        need = asset.need
        volume = asset.volume
        storage = asset.storage
        reason = asset.reason
        keys = asset.keys
        isKnownOnly = asset.isKnownOnly
        isInsecure = asset.isInsecure
        hasChanged = asset.hasChanged
        title = asset.title
        recordingOf = asset.recordingOf
        ranges = asset.ranges
        shortfall = asset.shortfall
    }

    /// The words of the column STATE by which assets can be listed.
    static let states = AssetState.allCases.map(\.rawValue) + [Priority.important.rawValue]

    func has(_ word: String) -> Bool {
        [state, stored].contains { $0.rawValue == word } || isImportant && word == Priority.important.rawValue
    }

    private var isImportant: Bool { storage?.policy.priority == .important }

    /// True if the asset plays without the network.
    var playsWithoutNetwork: Bool { local == .yes && !(storage?.isExpired ?? false) }

    var row: [String] {
        var time = "–"
        if let duration {
            time = Format.clock(duration)
        } else if isLive {
            time = "live"
        }

        var size = "–"
        if bytes > 0 {
            size = Format.bytes(bytes)
        }
        let quality = quality ?? "–"
        let seen = self.seen ?? "–"
        return [name, time, seen, quality, size, words, title ?? ""]
    }

    /// The part that was seen: `43 %`, or `watched`; nil for a film of which nothing is known.
    var seen: String? { SeenText.words(position, of: duration, isWatched: isWatched) }

    /// The state, what is stored of it, and what else is worth a word.
    private var words: String {
        if isKnownOnly == true {
            return "\(stored.words), in the streams file"
        }
        if state == .unreadable {
            return state.words
        }
        if let volume, !volume.isPresent {
            let absence = "disk absent: \(volume.path)"
            let isSaidByAbsence = need == .volume || state == stored
            guard !isSaidByAbsence else { return absence }
            return "\(absence), \(activity)"
        }

        var words: [String] = []
        if state != stored {
            words.append(activity)
        }
        if let ranges {
            words.append("\(stored.words) (only \(Format.ranges(ranges)))")
        } else {
            words.append(stored.words)
        }
        if let shortfall, shortfall.reason == .holes {
            words.append(shortfall.message)
        }
        if let volume {
            words.append("in \(volume.path)")
        }
        if isImportant {
            words.append(Priority.important.rawValue)
        }
        words += KeysText.badge(keys)
        if isInsecure == true {
            words.append("certificates not verified")
        }
        if hasChanged == true {
            words.append("other content at the origin")
        }
        return words.joined(separator: ", ")
    }

    /// The state with its reason: `waiting for space`, `paused: on holiday`.
    private var activity: String {
        let words = state.words(need)
        guard let reason else { return words }
        return "\(words): \(reason)"
    }
}
