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
            Only complete renditions are exported. The target must not exist yet. Exits with 3 if one file cannot hold all of them.
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"), completion: .assetNames)
    var name: String
    @Argument(
        help: ArgumentHelp("The target: a new folder, or a file that ends in .tar, .mp4 or .mkv.", valueName: "target"))
    var target: String
    @Option(
        help: ArgumentHelp("The format, if the target's ending does not determine it.", valueName: "folder|tar|mp4|mkv")
    )
    var format: ExportFormat?
    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        let ending = (target as NSString).pathExtension.lowercased()
        guard format == nil, Self.otherFormats.contains(ending) else { return }
        throw ValidationError(
            "no export is made as .\(ending): end the target in .tar, .mp4 or .mkv; for a folder of that name: --format folder"
        )
    }

    /// Endings of files that users may expect, and that would become folders.
    private static let otherFormats: Set<String> = [
        "zip", "gz", "tgz", "xz", "zst", "7z", "rar", "webm", "avi", "mov", "m4v", "ts", "m2ts", "mpg", "mpeg", "flv",
        "wmv", "ogg",
        "mp3", "m4a", "aac", "m3u8", "m3u",
    ]

    func execute() async throws {
        let request = API.ExportRequest(path: DiskPath.absolute(target), format: format)
        let export = try await common.daemon().client.call(Endpoints.export, name, body: request)
        let failure = export.shortfalls.map { Failure($0, next: "weir export \(export.name) FOLDER, which holds all") }
        if json {
            try Output.json(ExportResult(export: export, reasons: failure?.reasons))
        } else {
            Output.line("exported \(export.name), \(Format.bytes(export.bytes)), to \(export.path)")
        }
        if let failure {
            throw failure
        }
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
