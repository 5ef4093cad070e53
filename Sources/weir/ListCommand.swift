import API
import Application
import ArgumentParser
import Foundation
import Orders

struct ListCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List assets and downloads.",
        discussion: """
            --state also takes a word of the column LOCAL, and then lists only assets that have it: \
            \(ListedAsset.states.joined(separator: ", ")). It may be repeated; one of the words must fit.
            """, aliases: ["ls"])

    @Flag(help: "List only assets that play without the network.")
    var offline = false
    @Flag(help: "Write one JSON object per line.")
    var json = false
    @OptionGroup var options: CommonOptions

    /// The options without the states of assets.
    var common: CommonOptions {
        var common = options
        common.states.removeAll(where: ListedAsset.states.contains)
        return common
    }

    /// The states of which an asset must have one; any state if there are none.
    private var states: [String] { options.states.filter(ListedAsset.states.contains) }

    func validate() throws {
        // A mistyped state must not become the folder of another daemon.
        for word in common.states where !word.contains("/") && !FileManager.default.fileExists(atPath: word) {
            let nearest = NearestName.of(word, in: ListedAsset.states).map { "; did you mean \"\($0)\"?" }
            throw ValidationError(
                "--state \"\(word)\" is neither a folder nor a state\(nearest ?? ": \(ListedAsset.states.joined(separator: ", "))")"
            )
        }
    }

    func execute() async throws {
        let daemon = try common.daemon()
        guard !json else {
            let assets = try await daemon.client.assets().filter { isListed(ListedAsset($0)) }
            return Output.records(try assets.map { String(decoding: try API.encode($0), as: UTF8.self) })
        }
        let assets = try await daemon.client.assets(as: ListedAsset.self, isBrief: true).filter(isListed)
        guard !assets.isEmpty else { return Output.error(Self.emptiness(states, offline: offline, urls: daemon.urls)) }
        // A title that is too long must not break the lines of a terminal.
        let table = Self.table(assets)
        let shown = Terminal.showsOutput ? table.cutting("TITLE", to: Terminal.size().columns) : table
        Output.lines(shown.lines + [Self.totals(assets)])
    }

    private func isListed(_ asset: ListedAsset) -> Bool {
        (!offline || asset.isOffline) && (states.isEmpty || states.contains(where: asset.has))
    }

    static func emptiness(_ states: [String] = [], offline: Bool, urls: PlayerURL) -> String {
        guard states.isEmpty else { return "no asset is \(states.joined(separator: " or "))\n" }
        return (offline ? "no asset is complete yet\n" : "no assets yet\n")
            + "try: weir get URL, or play \(urls.origin(url: "URL"))\n"
    }

    /// The line under the table: `3 assets, 151 MB, 2 complete`.
    static func totals(_ assets: [ListedAsset]) -> String {
        let complete = assets.count { $0.has("complete") }
        let bytes = Format.bytes(assets.reduce(0) { $0 + $1.bytes })
        return "\(Format.count(assets.count, "asset")), \(bytes), \(complete) complete"
    }

    static func table(_ assets: [ListedAsset]) -> TextTable {
        // Titles are long, and come last.
        let title = assets.contains { $0.title != nil } ? ["TITLE"] : []
        return TextTable(rows: [["NAME", "TIME", "QUALITY", "SIZE", "LOCAL"] + title] + assets.map(\.row))
    }
}

/// The keys of `API.Asset` that `weir list` prints. Decoding the others would take most of the time of a long list.
struct ListedAsset: Decodable, Sendable {
    private let name: String
    let title: String?
    private let duration: Double?
    private let isLive: Bool
    private let quality: String?
    let bytes: Int
    private let local: API.Local
    private let state: JobState?
    private let need: Need?
    private let reason: String?
    private let volume: API.Volume?
    private let storage: API.Storage?
    private let keys: API.KeySummary?
    private let unreadable: String?
    private let isKnownOnly: Bool?
    private let isInsecure: Bool?
    private let hasChanged: Bool?
    private let ranges: [API.Download.TimeRange]?

    init(_ asset: API.Asset) {
        (name, duration, isLive) = (asset.name, asset.duration, asset.isLive)
        (quality, bytes, local) = (asset.quality ?? asset.tracks.storedQuality, asset.bytes, asset.local)
        (state, need, volume, storage) = (asset.state, asset.need, asset.volume, asset.storage)
        reason = asset.reason
        (keys, unreadable, isKnownOnly) = (asset.keys, asset.unreadable, asset.isKnownOnly)
        (isInsecure, hasChanged, title, ranges) = (asset.isInsecure, asset.hasChanged, asset.title, asset.ranges)
    }

    /// The words of the column LOCAL by which assets can be listed.
    static let states = [
        "complete", "partial", "none", "downloading", "queued", "paused", "waiting", "failed", "expired", "purged",
        "important", "unreadable",
    ]

    /// True if the column LOCAL has a word at the beginning of one of its parts.
    func has(_ state: String) -> Bool {
        if state == "none" { return local == .none }
        return stored.components(separatedBy: ", ").contains { $0 == state || $0.hasPrefix(state + " ") }
    }

    /// True if the asset plays without the network.
    var isOffline: Bool { local == .complete && !(storage?.isExpired ?? false) }

    var row: [String] {
        let time = duration.map(Format.clock) ?? (isLive ? "live" : "–")
        return [name, time, quality ?? "–", bytes > 0 ? Format.bytes(bytes) : "–", stored, title ?? ""]
    }

    private var stored: String {
        if unreadable != nil { return "unreadable" }
        if isKnownOnly == true { return "not stored, in the streams file" }
        if let volume, !volume.isPresent { return "disk absent: \(volume.path)" + (need == .volume ? "" : activity) }
        let part = ranges.map { " (only \(Format.ranges($0)))" } ?? ""
        let other = part + (volume.map { ", in \($0.path)" } ?? "")
        let badges = StorageText.badge(storage, local: local) + KeysText.badge(keys)
        let warnings =
            (isInsecure == true ? ", certificates not verified" : "")
            + (hasChanged == true ? ", other content at the origin" : "")
        return local.word + other + badges + warnings + activity
    }

    private var activity: String {
        switch state {
        case .queued, .running, .paused, .waiting, .failed:
            state.map { ", " + API.Download.words($0, need) + (reason.map { ": \($0)" } ?? "") } ?? ""
        case .cancelled, .complete, nil: ""
        }
    }
}
