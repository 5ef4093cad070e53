public import API
public import ArgumentParser

/// `weir export`
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export an asset so that it plays without Weir.",
        discussion: """
            A folder plays by itself: mpv FOLDER/master.m3u8, from nginx, from any server of files. A .tar has that folder
            in it. A .mp4 or .mkv is one file with the best picture, every language of sound and all subtitles; ffmpeg
            makes it. Only what is stored whole is written; what is at the target already stays.
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"))
    var name: String

    @Argument(
        help: ArgumentHelp("Where to: a new folder, or a file that ends in .tar, .mp4 or .mkv.", valueName: "target"))
    var target: String

    @Option(
        help: ArgumentHelp("What to write, where the target's ending does not say it.", valueName: "folder|tar|mp4|mkv")
    )
    var format: API.ExportRequest.Format?

    @Flag(help: "Share a folder's files with the store where they are on one disk: quick, but do not change them.")
    var link = false

    @Flag(help: "Write one JSON object.")
    var json = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            let request = API.ExportRequest(
                path: DiskPath.absolute(target), format: format, link: link ? true : nil)
            let export = try await common.daemon().client.export(request, ofAsset: name)
            if json { return Output.line(String(decoding: try API.encode(export), as: UTF8.self)) }
            Output.line("exported \(export.name), \(Format.bytes(export.bytes)), to \(export.path)")
            for sentence in export.leftOut ?? [] { Output.error("weir: left out \(sentence)\n") }
        }
    }
}

extension API.ExportRequest.Format: ExpressibleByArgument {}
