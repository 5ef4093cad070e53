import ArgumentParser
import Orders
import SafeText
import WeirAPI

extension AttachmentKind: ExpressibleByArgument {}

struct AttachCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach", abstract: "Add subtitles, chapters or thumbnails to a stored asset.",
        discussion: """
            Subtitles are a .srt or .vtt file, with --lang. Chapters are a .json or .vtt file: Apple's format or that of yt-dlp, or a \
            title in each cue. Thumbnails are a .vtt file that names pictures beside it, or one picture with --tiles. The track is \
            kept with the asset, is in all its playlists, also offline, and is exported with it. The file itself is not kept.
            """)

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"))
    var name: String
    @Argument(help: "The file: .srt, .vtt, .json, .jpg, .png or .webp.")
    var file: String
    @Option(
        name: .customLong("lang"),
        help: ArgumentHelp("The language, such as de, en-GB or pt-BR. Subtitles need one.", valueName: "tag"))
    var language: String?
    @Option(name: .customLong("name"), help: "The name in players' menus. Without this option: the language's name.")
    var title: String?
    @Flag(help: "These subtitles translate only what the sound does not say.")
    var forced = false
    @Flag(name: .customLong("default"), help: "Players show these subtitles unasked.")
    var isDefault = false
    @Option(
        help: ArgumentHelp(
            "The kind, if the file's name does not show it.", valueName: "subtitles|chapters|thumbnails"))
    var kind: AttachmentKind?
    @Option(help: ArgumentHelp("Columns and rows of a picture with many images, such as 10x10.", valueName: "grid"))
    var tiles: String?
    @Option(
        help: ArgumentHelp("Seconds for each image of such a picture. Default: all of the film.", valueName: "n"))
    var interval: Seconds?
    @Flag(help: "Write the track as one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let interval, !(0.001...1e6).contains(interval) {
            throw ValidationError("--interval is a number of seconds from 0.001 to 1000000.")
        }
        if language?.isEmpty ?? false {
            throw ValidationError("--lang is empty.")
        }
    }

    func execute() async throws {
        var request = API.AttachRequest(path: DiskPath.absolute(file))
        request.kind = kind
        request.language = language
        request.title = title
        if forced {
            request.isForced = true
        }
        if isDefault {
            request.isDefault = true
        }
        request.tiles = tiles
        request.interval = interval

        let attachment = try await common.daemon().client.call(Endpoints.attach, name, body: request)
        guard !json else { return try Output.json(attachment) }
        Output.line(Self.line(attachment))
        if let encoding = attachment.assumedEncoding {
            Output.error("weir: the file is no UTF-8 and has no mark of its encoding: it was read as \(encoding)\n")
        }
    }

    static func line(_ attachment: API.Attachment) -> String {
        let unit =
            switch attachment.kind {
            case .subtitles: "cue"
            case .chapters: "chapter"
            case .thumbnails: "image"
            }
        var track = attachment.kind.rawValue
        if let language = attachment.language {
            track += " \(language)"
        }
        return "attached to \(attachment.asset): \(track) (\(attachment.name)), "
            + "\(Format.count(attachment.count, unit)); remove with: "
            + "weir detach \(attachment.asset) \(attachment.id)"
    }
}

struct DetachCommand: ReportingCommand, JSONCommand {
    static let configuration = CommandConfiguration(
        commandName: "detach", abstract: "Remove an attached track from an asset.",
        discussion: "\"weir show NAME\" lists the tracks. The asset's own tracks stay.")

    @Argument(help: ArgumentHelp("The asset's name.", valueName: "name"))
    var name: String
    @Argument(help: ArgumentHelp("The track, such as attached-subtitles-de.", valueName: "track"))
    var track: String
    @Flag(help: "Write one JSON object.")
    var json = false
    @OptionGroup var common: CommonOptions

    func execute() async throws {
        let detachment = try await common.daemon().client.call(Endpoints.detach, name, track)
        guard !json else { return try Output.json(detachment) }
        Output.line("removed \(detachment.id) of \(detachment.asset), \(Format.bytes(detachment.bytes))")
    }
}
