import ArgumentParser
import Control

/// `weir list`
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List what the daemon knows, and what becomes of it.")

    @Flag(help: "Only what plays without the network.")
    var offline = false

    @Flag(help: "Write one JSON object a line.")
    var json = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            let daemon = try common.daemon()
            let assets = try await daemon.client.assets(isBrief: !json).filter {
                !offline || ($0.local == .complete && !($0.storage?.isExpired ?? false))
            }
            guard !json else {
                return Output.lines(try assets.map { String(decoding: try API.encode($0), as: UTF8.self) })
            }
            guard !assets.isEmpty else { return Output.error(Self.emptiness(offline: offline, urls: daemon.urls)) }
            Output.lines(Self.table(assets).lines)
        }
    }

    static func emptiness(offline: Bool, urls: PlayerURL) -> String {
        (offline ? "nothing is stored whole yet\n" : "nothing is here yet\n")
            + "try: weir get URL, or play \(urls.origin(url: "URL"))\n"
    }

    static func table(_ assets: [API.Asset]) -> TextTable {
        TextTable(rows: [["NAME", "TIME", "QUALITY", "SIZE", "LOCAL"]] + assets.map(row))
    }

    private static func row(_ asset: API.Asset) -> [String] {
        let time = asset.duration.map(Format.clock) ?? (asset.isLive ? "live" : "–")
        let size = asset.bytes > 0 ? Format.bytes(asset.bytes) : "–"
        return [asset.name, time, asset.quality ?? asset.tracks.storedQuality ?? "–", size, local(asset)]
    }

    /// What of it is here, and what becomes of it.
    private static func local(_ asset: API.Asset) -> String {
        if asset.unreadable != nil { return "unreadable" }
        if asset.isKnownOnly == true { return "not local, known only" }
        if let place = asset.place, !place.isThere {
            return "not there: \(place.path)" + (asset.need == .disk ? "" : activity(asset))
        }
        let place = asset.place.map { ", in \($0.path)" } ?? ""
        return asset.local.word + place + StorageText.badge(asset.storage, local: asset.local)
            + KeysText.badge(asset.keys) + activity(asset)
    }

    /// What goes on, where something does.
    private static func activity(_ asset: API.Asset) -> String {
        switch asset.state {
        case .queued, .running, .paused, .waiting, .failed:
            asset.state.map { ", " + API.Download.words($0, asset.need) } ?? ""
        case .cancelled, .complete, nil: ""
        }
    }
}
