import API
import ArgumentParser

/// `weir import`
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import a folder of HLS as an asset.",
        discussion: """
            The folder is plain HLS, what weir export has written, or a .movpkg of Apple's. All of it is copied into the
            store and checked; nothing is fetched, and the folder stays as it is.
            """)

    @Argument(help: ArgumentHelp("The folder, or the playlist in it to begin with.", valueName: "path"))
    var path: String

    @Option(help: "Name of the asset: lower-case letters, digits and single dashes.")
    var name: String?

    @Flag(help: "Write one JSON object.")
    var json = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            let request = API.ImportRequest(path: DiskPath.absolute(path), name: name)
            let daemon = try common.daemon()
            let asset = try await daemon.client.importAsset(request)
            if json { return Output.line(String(decoding: try API.encode(asset), as: UTF8.self)) }
            Output.line("imported \(asset.name), \(Format.bytes(asset.bytes))")
        }
    }
}
