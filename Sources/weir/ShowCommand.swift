import ArgumentParser
import Foundation
import Orders
import WeirAPI

struct ShowCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the tracks of an asset or a URL, and how much is stored.",
        aliases: ["info"])

    @Argument(
        help: ArgumentHelp("The name of an asset, or any HLS URL.", valueName: "name|url"), completion: .assetNames)
    var source: String?
    @Flag(help: "Explain which variant \"weir get\" would choose with the same options, and why.")
    var explain = false
    @Flag(help: "Write one JSON object, with the explanation.")
    var json = false
    @OptionGroup(title: "Selection") var selection: SelectionOptions
    @OptionGroup(title: "Selection") var extras: ExtrasOptions
    @OptionGroup(title: OriginOptions.title) var origin: OriginOptions
    @OptionGroup var common: CommonOptions

    func validate() throws { try origin.check(words) }

    private var words: [String] { source.map { [$0] } ?? [] }

    func execute() async throws {
        let order = try origin.order(for: words)
        let source = order.source
        let client = try common.daemon().client
        try LocalFile.refuse(source)
        if PlayerURL.isURL(source) {
            let presentation: API.Presentation
            if isExplained {
                presentation = try await explained(order, by: client)
            } else {
                presentation = try await client.call(Endpoints.presentation, query: API.query("url", source))
            }
            try write(presentation, Self.lines(presentation))
            if presentation.isProtected == true {
                throw Self.protection(presentation.name ?? presentation.url)
            }
        } else {
            var (asset, download) = try await assetAndDownload(source, client)
            if asset.isKnownOnly == true {
                let presentation = try await explained(order, by: client)
                return try write(presentation, Self.lines(presentation))
            }
            if isExplained {
                asset.explanation = try await explained(order, by: client).explanation
            }
            try write(asset, Self.lines(asset, download))
        }
    }

    /// The failure of `weir get` for the same presentation.
    private static func protection(_ name: String) -> APIError {
        APIError(
            .protected, "\(name) is protected by DRM, or names no key: a stored copy could not be played",
            next: "use a source without DRM; Weir stores media without keys or with AES-128 keys")
    }

    /// Asks for the asset and for its download. If new content replaces the old in between, that download is gone, and the
    /// asset has another one.
    private func assetAndDownload(
        _ source: String, _ client: APIClient
    ) async throws(APIError) -> (asset: API.Asset, download: API.Download?) {
        var goneID: String?
        while true {
            let asset = try await client.call(Endpoints.asset, source)
            guard let id = asset.download, id != goneID else { return (asset, nil) }
            do throws(APIError) {
                return (asset, try await client.call(Endpoints.download, id))
            } catch {
                guard error.code == .noSuchDownload else { throw error }
                goneID = id
            }
        }
    }

    /// A command line with selection options asks for the explanation too.
    private var isExplained: Bool { explain || json || selection.areGiven || extras.areGiven || origin.areGiven }

    private func explained(_ order: API.PresentationRequest, by client: APIClient) async throws -> API.Presentation {
        let chosen = extras.added(to: selection.selection(environment: ProcessInfo.processInfo.environment))
        var request = API.DownloadRequest(source: order.source, chosen)
        request.headers = order.headers
        request.cookies = order.cookies
        request.route = order.route
        return try await client.call(Endpoints.selection, body: request)
    }

    private func write(_ shape: some Encodable, _ lines: [String]) throws {
        guard json else { return lines.forEach(Output.line) }
        try Output.json(shape)
    }

    static func lines(_ asset: API.Asset, _ download: API.Download? = nil) -> [String] {
        let time = asset.isLive ? "live" : asset.duration.map(Format.clock)
        let head = [asset.name, asset.title, time, stored(asset)].compactMap(\.self).joined(separator: "  ")
        let change = asset.hasChanged == true ? [changed(asset)] : []
        let playable = asset.playable.map { [line($0)] } ?? []
        let storage = StorageText.lines(asset.storage) + KeysText.lines(asset)
        var origin = asset.isImported == true ? "imported: it has no origin" : asset.url
        if let channel = asset.recordingOf {
            origin = "recorded from \(channel), \(asset.url)"
        }
        let shortfall = asset.shortfall.map { ["note: \($0.message)"] } ?? []
        let recordings = asset.recordings.map { ["recordings: " + $0.joined(separator: ", ")] } ?? []
        let warning = asset.isInsecure == true ? [insecurity(of: asset)] : []
        let volume = asset.volume.map { [$0.isPresent ? "stored in \($0.path)" : Self.absence(of: $0)] } ?? []
        let ranges = asset.ranges.map { ["only \(Format.ranges($0))"] } ?? []
        let note = (download?.note ?? asset.note).map { [$0] } ?? []
        return [head, origin] + ranges + warning + playable + volume + storage + note + change
            + shortfall + recordings + lines(asset.tracks)
            + (download.map(DownloadText.lines) ?? []) + lines(asset.explanation, of: asset.tracks)
    }

    private static func line(_ playable: Playability) -> String {
        let part = playable.duration.map { ", \(Format.clock($0)) of it" } ?? ""
        return switch playable.answer {
        case .yes: "playable offline: yes: \(playable.reason)"
        case .partial: "playable offline: in part\(part): \(playable.reason)"
        case .no: "playable offline: no: \(playable.reason)"
        }
    }

    private static func absence(of volume: API.Volume) -> String {
        "its files are in \(volume.path), which is absent; Weir finds them again when the disk is back"
    }

    private static func insecurity(of asset: API.Asset) -> String {
        "WARNING: the certificates of its servers are not verified (--insecure): anyone on the way can read and change what is "
            + "fetched. \"weir resume \(asset.name) --no-insecure\" verifies them again."
    }

    private static func changed(_ asset: API.Asset) -> String {
        asset.isRevised == true
            ? "The origin has new content, which is being fetched; the stored content plays until the new content is complete."
            : "The origin has new content; the stored content plays. \"weir get \(asset.name)\" fetches the new content."
    }

    private static func stored(_ asset: API.Asset) -> String {
        asset.bytes > 0 ? "\(asset.stored.words), \(size(asset))" : asset.stored.words
    }

    /// The stored size: `151 MB`, with the part of a saved asset that is only cached.
    private static func size(_ asset: API.Asset) -> String {
        let cached = asset.cachedBytes ?? 0
        let all = Format.bytes(asset.bytes)
        guard cached > 0, asset.stored != .cached else { return all }
        let part = cached == asset.bytes ? "all of that" : "\(Format.bytes(cached)) of that"
        return "\(all), \(part) in the play cache"
    }

    static func lines(_ presentation: API.Presentation) -> [String] {
        let time = presentation.isLive ? "live" : presentation.duration.map(Format.clock)
        let head = [presentation.title ?? presentation.name, time].compactMap(\.self).joined(separator: "  ")
        return (head.isEmpty ? [] : [head]) + [presentation.url] + lines(presentation.tracks)
            + lines(presentation.explanation, of: presentation.tracks)
    }

    private static func lines(_ explanation: API.Explanation?, of tracks: API.Tracks) -> [String] {
        explanation.map { ExplanationText.lines($0, of: tracks) } ?? []
    }

    private static func lines(_ tracks: API.Tracks) -> [String] {
        var rows = [["VARIANT", "BIT RATE", "CODECS", "SIZE", "STORED"]]
        rows += tracks.variants.map { variant in
            let stored = StoredTrack(variant)
            let size = variant.width.flatMap { width in variant.height.map { " \(width)x\($0)" } } ?? ""
            return [
                (variant.quality ?? variant.id) + size, variant.bandwidth.map(Format.bandwidth) ?? "–",
                variant.codecs ?? "–", stored.size, stored.words,
            ]
        }
        rows += tracks.audio.map { row("audio", $0) } + tracks.subtitles.map { row("subs", $0) }
        rows += (tracks.captions ?? []).map { row("captions", $0) }
        rows += (tracks.chapters ?? []).map { row("chapters", $0) }
        rows += (tracks.thumbnails ?? []).map { row("thumbnails", $0) }
        return rows.count > 1 ? [""] + TextTable(rows: rows).lines : []
    }

    private static func row(_ kind: String, _ rendition: API.Rendition) -> [String] {
        let notes = [
            rendition.name, rendition.instreamID, rendition.isDefault ? "default" : nil,
            rendition.isForced == true ? "forced" : nil,
            rendition.isAttached == true ? "attached as \(rendition.id ?? "")" : nil,
        ]
        let stored = StoredTrack(rendition)
        let size = rendition.id == nil ? "in the variants" : stored.size
        return [
            "\(kind) \(rendition.shortName)", "–", notes.compactMap(\.self).joined(separator: ", "), size, stored.words,
        ]
    }
}

/// Text of the reasons of a selection.
enum ExplanationText {
    /// One line for the chosen variant, then one for each other variant.
    static func lines(_ explanation: API.Explanation, of tracks: API.Tracks) -> [String] {
        let size = size(explanation.selection)
        let chosen = "chosen: \(explanation.selection.summary)" + (size.map { "   \(Format.estimate($0))" } ?? "")
        let why = "because it has \(explanation.chosen.reason)"
        let rows = explanation.others.map { other in [name(tracks.variants, other.index), "it \(other.reason)"] }
        let incompatible = (explanation.incompatible ?? []).map { [$0.id, $0.reason] }
        return ["", chosen, why] + table("not chosen:", rows)
            + table("never substituted in its holes:", incompatible)
    }

    private static func table(_ head: String, _ rows: [[String]]) -> [String] {
        rows.isEmpty ? [] : ["", head] + TextTable(rows: rows).lines
    }

    private static func name(_ variants: [API.Variant], _ index: Int) -> String {
        guard variants.indices.contains(index) else { return "–" }
        return variants[index].summary.isEmpty ? variants[index].id : variants[index].summary
    }

    /// The estimated size; nil if it is not known. Playlists give no size for renditions.
    private static func size(_ tracks: API.Tracks) -> Int? {
        let sizes =
            tracks.variants.map(\.estimatedBytes) + tracks.audio.map(\.estimatedBytes)
            + tracks.subtitles.map(\.estimatedBytes)
        let known = sizes.compactMap(\.self)
        return known.isEmpty ? nil : known.reduce(0, +)
    }
}
