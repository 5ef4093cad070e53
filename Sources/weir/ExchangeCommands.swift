import ArgumentParser
import Foundation
package import Orders
import WeirAPI

struct ExportCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export an asset so that it plays without Weir.",
        discussion: """
            A folder plays from disk (mpv FOLDER/master.m3u8), and from nginx or any file server. A .tar contains such a
            folder. A .mp4 or .mkv is one file with the best video, all audio languages and all subtitles, made by ffmpeg.
            Only complete renditions are exported. Within a folder that exists it gets the asset's name; nothing is overwritten. Exits with 3 if one file cannot hold all of them.
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"), completion: .assetNames)
    var name: String
    @Argument(
        help: ArgumentHelp("A folder, or a new file that ends in .tar, .mp4 or .mkv.", valueName: "target"))
    var target: String
    @Option(
        help: ArgumentHelp("The format, if the target's ending does not determine it.", valueName: "folder|tar|mp4|mkv")
    )
    var format: ExportFormat?
    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard format == nil else { return }
        try ExportEnding.check(
            (target as NSString).pathExtension, otherwise: "for a folder of that name: --format folder")
    }

    func execute() async throws {
        let client = try common.daemon().client
        let request = API.ExportRequest(path: try await path(in: client), format: format)
        let export = try await client.call(Endpoints.export, name, body: request)
        let failure = ExportText.failure(export)
        if json {
            try Output.json(ExportResult(export: export, reasons: failure?.reasons))
        } else {
            Output.line(ExportText.line(export))
        }
        if let failure {
            throw failure
        }
    }

    /// The absolute path of the target: within a folder that exists, as cp(1) does it, under the asset's name.
    private func path(in client: APIClient) async throws -> String {
        let path = DiskPath.absolute(target)
        guard ExportPattern.isFolder(path) else { return path }
        // It may be given by its URL or id.
        let asset = try await client.call(Endpoints.asset, name)
        var ending = ""
        if let format, format != .folder {
            ending = "." + format.rawValue
        }
        return "\(path)/\(asset.name)\(ending)"
    }
}

/// The words of commands about a written film.
enum ExportText {
    static func line(_ export: API.Export) -> String {
        "exported \(export.name), \(Format.bytes(export.bytes)), to \(export.path)"
    }

    /// The failure of an export that does not have all; nil if it has.
    static func failure(_ export: API.Export) -> Failure? {
        export.shortfalls.map { Failure($0, next: "weir export \(export.name) FOLDER, which holds all") }
    }
}

/// The object of `export --json`: the keys of the export, and the reasons of the exit code 3.
struct ExportResult: Encodable {
    private enum Key: CodingKey {
        case reasons
    }

    let export: API.Export
    let reasons: [Shortfall.Reason]?

    func encode(to encoder: any Encoder) throws {
        try export.encode(to: encoder)
        var values = encoder.container(keyedBy: Key.self)
        try values.encodeIfPresent(reasons, forKey: .reasons)
    }
}

extension ExportFormat: ExpressibleByArgument {}

struct ImportCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import a folder of HLS as an asset.",
        discussion: """
            The folder is plain HLS, an export of Weir, or an Apple .movpkg. It is copied into the store and checked; nothing
            is fetched, and the folder does not change.
            """)

    @Argument(help: ArgumentHelp("The folder, or the playlist in it to start from.", valueName: "path"))
    var path: String
    @Option(help: "Name of the asset: lower-case letters, digits and single dashes.")
    var name: String?
    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        // Not repeated in the message: a URL may contain a password.
        if PlayerURL.isURL(path) {
            throw ValidationError("import reads a folder; for a URL, see: weir get")
        }
    }

    /// Refuses files that are no playlists, by their names: an export in one file, or another film.
    private func checkFile() throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else { return }
        let word = Failure.quoted(path)
        switch (path as NSString).pathExtension.lowercased() {
        case "tar", "tgz", "gz", "zip":
            throw Failure(
                "\(path) is an archive, and a folder is needed",
                next: "unpack it, as with tar -xf \(word), and give the folder",
                exitCode: 65, code: APIError.Code.badImport.rawValue)
        case "mp4", "mkv", "m4v", "mov", "webm", "ts":
            throw Failure(
                "\(path) is a film in one file, and no HLS", next: "mpv \(word), which needs no Weir",
                exitCode: 65,
                code: APIError.Code.badImport.rawValue)
        default: break
        }
    }

    func execute() async throws {
        try checkFile()
        let request = API.ImportRequest(path: DiskPath.absolute(path), name: name)
        let daemon = try common.daemon()
        let asset = try await daemon.client.call(Endpoints.importAsset, body: request)
        if json {
            return try Output.json(asset)
        }
        Output.line("imported \(asset.name), \(Format.bytes(asset.bytes))")
    }
}
