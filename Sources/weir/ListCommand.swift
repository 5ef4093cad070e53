import API
import ArgumentParser

/// `weir list`
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List assets and downloads.")

    @Flag(help: "List only what plays without the network.")
    var offline = false

    @Flag(help: "Write one JSON object per line.")
    var json = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            let daemon = try common.daemon()
            guard !json else {
                let assets = try await daemon.client.assets().filter { !offline || ListedAsset($0).isOffline }
                return Output.lines(try assets.map { String(decoding: try API.encode($0), as: UTF8.self) })
            }
            let assets = try await daemon.client.assets(as: ListedAsset.self, isBrief: true)
                .filter { !offline || $0.isOffline }
            guard !assets.isEmpty else { return Output.error(Self.emptiness(offline: offline, urls: daemon.urls)) }
            Output.lines(Self.table(assets).lines)
        }
    }

    static func emptiness(offline: Bool, urls: PlayerURL) -> String {
        (offline ? "nothing is stored whole yet\n" : "nothing is here yet\n")
            + "try: weir get URL, or play \(urls.origin(url: "URL"))\n"
    }

    static func table(_ assets: [ListedAsset]) -> TextTable {
        TextTable(rows: [["NAME", "TIME", "QUALITY", "SIZE", "LOCAL"]] + assets.map(\.row))
    }
}
