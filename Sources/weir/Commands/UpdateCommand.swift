import ArgumentParser
import WeirAPI

struct UpdateCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Take over new content of an asset's origin.",
        discussion: """
            Compares the playlists, and the beginnings of stored segments of each rendition, with the origin's. If the content is \
            another one, it is fetched beside the old with the same selections; the old plays until the new is complete. Old and new are never mixed.
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"), completion: .assetNames)
    var name: String?
    @Flag(help: "Write the asset as one JSON object.")
    var json = false
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @OptionGroup var common: CommonOptions

    func validate() throws { try origin.check(words) }

    private var words: [String] { [name].compactMap(\.self) }

    func execute() async throws {
        let client = try common.daemon().client
        let name = try await origin.change(ofAsset: words, in: client)
        let asset = try await client.call(Endpoints.update, name)
        guard !json else { return try Output.json(asset) }
        Output.line(Self.line(asset))
    }

    static func line(_ asset: API.Asset) -> String {
        if asset.isRevised == true {
            return
                "\(asset.name): the origin has other content, which is fetched beside the old; follow with: weir get \(asset.name)"
        }
        if asset.hasChanged == true {
            return
                "\(asset.name): the origin has other content, which replaces the old when nothing plays it: repeat the command"
        }
        return "\(asset.name): up to date"
    }
}
