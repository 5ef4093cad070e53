import API
import ArgumentParser

struct ListCommand: ReportingCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List assets and downloads.")

    @Flag(help: "List only assets that play without the network.")
    var offline = false
    @Flag(help: "Write one JSON object per line.")
    var json = false
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        let daemon = try common.daemon()
        guard !json else {
            let assets = try await daemon.client.assets().filter { !offline || ListedAsset($0).isOffline }
            return Output.records(try assets.map { String(decoding: try API.encode($0), as: UTF8.self) })
        }
        let assets = try await daemon.client.assets(as: ListedAsset.self, isBrief: true)
            .filter { !offline || $0.isOffline }
        guard !assets.isEmpty else { return Output.error(Self.emptiness(offline: offline, urls: daemon.urls)) }
        Output.lines(Self.table(assets).lines)
    }

    static func emptiness(offline: Bool, urls: PlayerURL) -> String {
        (offline ? "no asset is complete yet\n" : "no assets yet\n")
            + "try: weir get URL, or play \(urls.origin(url: "URL"))\n"
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
    private let bytes: Int
    private let local: API.Local
    private let state: API.Download.State?
    private let need: API.Download.Need?
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
