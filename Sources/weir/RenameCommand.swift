import API
import ArgumentParser

/// `weir rename`
struct RenameCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rename", abstract: "Give an asset another name, or another title.",
        discussion: "/<new>.m3u8 plays at once. Who plays it goes on; its folder on disk keeps its name.")

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"))
    var name: String

    @Argument(help: ArgumentHelp("What to call it: small letters, digits and single dashes.", valueName: "new"))
    var new: String?

    @Option(help: "The title for lists; an empty one takes it away.")
    var title: String?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if new == nil, title == nil { throw ValidationError("say what to call it, or give it a --title") }
    }

    func run() async throws {
        try await reporting(common) {
            let daemon = try common.daemon()
            let asset = try await daemon.client.change(API.AssetChange(name: new, title: title), ofAsset: name)
            Output.line(
                [asset.name, asset.title, daemon.urls.asset(named: asset.name)].compactMap(\.self).joined(
                    separator: "  "))
        }
    }
}
