import ArgumentParser
import Foundation
package import Orders
import WeirAPI

struct ExportCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export an asset so that it plays without Weir.",
        discussion: """
            A folder plays from disk (mpv FOLDER/master.m3u8), and from nginx or any file server. A .tar contains such a
            folder. A .mkv or .mp4 is one file with the best video, all audio languages and all subtitles, made by ffmpeg; a .ts has \
            no subtitles, and a .mka or .m4a the sound alone. A .srt is the subtitles, which need no ffmpeg: with several languages a \
            file for each, film.en.srt, film.de.srt. Only complete renditions are exported. Within a folder that exists \
            it gets the asset's name; nothing is overwritten.

            The packets of the written file are compared with those that are stored. Exits with 3 if it does not hold all, and \
            says what is lost: a film whose codec changes in the middle plays from a folder, or with --split from a file for \
            each part.
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"), completion: .assetNames)
    var name: String
    @Argument(
        help: ArgumentHelp(
            "A folder, or a new file that ends in .tar, .mkv, .mp4, .ts, .mka, .m4a or .srt.", valueName: "target"))
    var target: String
    @Option(
        help: ArgumentHelp(
            "The format, if the target's ending does not determine it.",
            valueName: ExportFormat.allCases.map(\.rawValue).joined(separator: "|")))
    var format: ExportFormat?
    @Flag(help: "Where the media changes within the film, begin a new file: film-1.mkv, film-2.mkv.")
    var split = false
    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard format == nil else { return }
        try ExportEnding.check(
            (target as NSString).pathExtension, otherwise: "for a folder of that name: --format folder")
    }

    func execute() async throws {
        try LocalFile.refuse(name)
        let client = try common.daemon().client
        let export: API.Export
        do throws(APIError) {
            var request = API.ExportRequest(path: try await path(in: client), format: format)
            if split {
                request.split = true
            }
            export = try await client.call(Endpoints.export, name, body: request)
        } catch {
            throw await failure(error, in: client)
        }
        let failure = ExportText.failure(export)
        if json {
            try Output.json(ExportResult(export: export, reasons: failure?.reasons))
        } else {
            for line in ExportText.lines(export) {
                Output.line(line)
            }
        }
        if let failure {
            throw failure.inResult
        }
    }

    /// The failure of a source that is not stored: that of "weir get", or else the way to a file.
    private func failure(_ error: APIError, in client: APIClient) async -> APIError {
        guard error.code == .noSuchAsset, PlayerURL.isURL(name) else { return error }
        do throws(APIError) {
            let presentation = try await client.call(Endpoints.selection, body: API.DownloadRequest(source: name))
            if presentation.isProtected == true {
                return ShowCommand.protection(presentation.name ?? presentation.url)
            }
        } catch {
            return error
        }
        let word = CommandFailure.quoted(PlayerURL.withoutPassword(name))
        return APIError(
            .noSuchAsset, "nothing of \(PlayerURL.withoutPassword(name)) is stored",
            next: "weir get \(word) --to \(CommandFailure.quoted(target))")
    }

    /// The absolute path of the target: within a folder that exists, as cp(1) does it, under the asset's name.
    private func path(in client: APIClient) async throws(APIError) -> String {
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
    static func lines(_ export: API.Export) -> [String] {
        let head = "exported \(export.name), \(Format.bytes(export.bytes)), to "
        guard let paths = export.paths else { return [head + export.path] }
        return [head + "\(paths.count) files:"] + paths
    }

    /// The failure of an export that does not have all; nil if it has.
    static func failure(_ export: API.Export) -> CommandFailure? {
        var next = "weir export \(export.name) FOLDER, which holds all"
        if export.isSplittable ?? false {
            next =
                "weir export \(export.name) \(CommandFailure.quoted(export.path)) --split, for a file for each part; or \(next)"
        }
        return export.shortfalls.map { CommandFailure($0, next: next) }
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

extension ExportFormat: ExpressibleByArgument {
    var isMadeByFFmpeg: Bool {
        switch self {
        case .mp4, .mkv, .ts: true
        case .folder, .tar, .srt: false
        }
    }
}

struct ImportCommand: ReportingCommand, JSONCommand {
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
        let word = CommandFailure.quoted(path)
        switch (path as NSString).pathExtension.lowercased() {
        case "tar", "tgz", "gz", "zip":
            throw CommandFailure(
                "\(path) is an archive, and a folder is needed",
                next: "unpack it, as with tar -xf \(word), and give the folder",
                exitCode: 65, code: APIError.Code.badImport.rawValue)
        case "mp4", "mkv", "m4v", "mov", "webm", "ts":
            throw CommandFailure(
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
