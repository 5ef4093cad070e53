import ArgumentParser
import Foundation
import Orders
import WeirAPI

struct ShowCommand: ReportingCommand, JSONCommand {
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

    private var words: [String] { [source].compactMap(\.self) }

    func execute() async throws {
        let client = try common.daemon().client
        let order = try await origin.order(for: words, in: client)
        let source = order.source
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
    static func protection(_ name: String) -> APIError {
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
        var time = asset.duration.map(Format.clock)
        if asset.isLive {
            time = "live"
        }
        let head = [asset.name, asset.title, time, stored(asset)].compactMap(\.self).joined(separator: "  ")
        var origin = asset.url
        if asset.isImported == true {
            origin = "imported: it has no origin"
        }
        if let channel = asset.recordingOf {
            origin = "recorded from \(channel), \(asset.url)"
        }

        var lines = [head, origin]
        if let ranges = asset.ranges {
            lines.append("only \(Format.ranges(ranges))")
        }
        if asset.isInsecure == true {
            lines.append(insecurity(of: asset))
        }
        if let playable = asset.playable {
            lines.append(line(playable))
        }
        if let seen = SeenText.words(asset.position, of: asset.duration, isWatched: asset.isWatched) {
            lines.append("seen: \(seen)")
        }
        if let volume = asset.volume {
            lines.append(location(on: volume))
        }
        lines += StorageText.lines(asset.storage) + KeysText.lines(asset)
        if let note = download?.note ?? asset.note {
            lines.append(note)
        }
        if asset.hasChanged == true {
            lines.append(changed(asset))
        }
        if let shortfall = asset.shortfall {
            lines.append("note: \(shortfall.message)")
        }
        if let recordings = asset.recordings {
            lines.append("recordings: " + recordings.joined(separator: ", "))
        }

        lines += Self.lines(asset.tracks)
        if let download {
            lines += DownloadText.lines(download)
        }
        return lines + Self.lines(asset.explanation, of: asset.tracks)
    }

    private static func line(_ playable: Playability) -> String {
        var part = "in part"
        if let duration = playable.duration {
            part += ", \(Format.clock(duration)) of it"
        }
        return switch playable.answer {
        case .yes: "playable offline: yes: \(playable.reason)"
        case .partial: "playable offline: \(part): \(playable.reason)"
        case .no: "playable offline: no: \(playable.reason)"
        }
    }

    private static func location(on volume: API.Volume) -> String {
        guard !volume.isPresent else { return "stored in \(volume.path)" }
        return "its files are in \(volume.path), which is absent; Weir finds them again when the disk is back"
    }

    private static func insecurity(of asset: API.Asset) -> String {
        "WARNING: the certificates of its servers are not verified (--insecure): anyone on the way can read and change what is "
            + "fetched. \"weir resume \(asset.name) --no-insecure\" verifies them again."
    }

    private static func changed(_ asset: API.Asset) -> String {
        if asset.isRevised == true {
            return
                "The origin has new content, which is being fetched; the stored content plays until the new content is complete."
        }
        return
            "The origin has new content; the stored content plays. \"weir get \(asset.name)\" fetches the new content."
    }

    private static func stored(_ asset: API.Asset) -> String {
        guard asset.bytes > 0 else { return asset.stored.words }
        return "\(asset.stored.words), \(size(asset))"
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
        var time = presentation.duration.map(Format.clock)
        if presentation.isLive {
            time = "live"
        }
        let head = [presentation.title ?? presentation.name, time].compactMap(\.self).joined(separator: "  ")

        var lines: [String] = []
        if !head.isEmpty {
            lines.append(head)
        }
        lines.append(presentation.url)
        lines += Self.lines(presentation.tracks)
        return lines + Self.lines(presentation.explanation, of: presentation.tracks)
    }

    private static func lines(_ explanation: API.Explanation?, of tracks: API.Tracks) -> [String] {
        guard let explanation else { return [] }
        return ExplanationText.lines(explanation, of: tracks)
    }

    private static func lines(_ tracks: API.Tracks) -> [String] {
        var rows = [["TRACK", "BIT RATE", "ABOUT", "SIZE", "STORED"]]
        for variant in tracks.variants {
            var name = variant.quality ?? variant.id
            if let width = variant.width, let height = variant.height {
                name += " \(width)x\(height)"
            }
            let bandwidth = variant.bandwidth.map(Format.bandwidth) ?? "–"
            let stored = StoredTrack(variant)
            rows.append([name, bandwidth, variant.codecs ?? "–", stored.size, stored.words])
        }

        let others: [(kind: String, renditions: [API.Rendition]?)] = [
            ("audio", tracks.audio), ("subs", tracks.subtitles), ("captions", tracks.captions),
            ("chapters", tracks.chapters), ("thumbnails", tracks.thumbnails),
        ]
        for (kind, renditions) in others {
            for rendition in renditions ?? [] {
                rows.append(row(kind, rendition))
            }
        }
        guard rows.count > 1 else { return [] }
        return [""] + TextTable(rows: rows).lines
    }

    private static func row(_ kind: String, _ rendition: API.Rendition) -> [String] {
        var notes = [rendition.name]
        if let channel = rendition.instreamID {
            notes.append(channel)
        }
        if rendition.isDefault {
            notes.append("default")
        }
        if rendition.isForced == true {
            notes.append("forced")
        }
        if rendition.isAttached == true {
            notes.append("attached as \(rendition.id ?? "")")
        }

        let stored = StoredTrack(rendition)
        let size = rendition.id == nil ? "in the variants" : stored.size
        // In the column of the variants' codecs.
        let sound = [rendition.codec, rendition.layout].compactMap(\.self).joined(separator: " ")
        let facts = ([sound] + notes).filter { !$0.isEmpty }.joined(separator: ", ")
        return ["\(kind) \(rendition.shortName)", "–", facts, size, stored.words]
    }
}

/// Text of the reasons of a selection.
enum ExplanationText {
    /// One line for the chosen variant, then one for each other variant.
    static func lines(_ explanation: API.Explanation, of tracks: API.Tracks) -> [String] {
        var chosen = "chosen: \(explanation.selection.summary)"
        if let size = size(explanation.selection) {
            chosen += "   \(Format.estimate(size))"
        }
        let why = "because it has \(explanation.chosen.reason)"
        let others = explanation.others.map { other in [name(tracks.variants, other.index), "it \(other.reason)"] }
        let incompatible = explanation.incompatible ?? []
        return ["", chosen, why] + table("not chosen:", others)
            + table("never substituted in its holes:", incompatible.map { [$0.id, $0.reason] })
    }

    private static func table(_ head: String, _ rows: [[String]]) -> [String] {
        guard !rows.isEmpty else { return [] }
        return ["", head] + TextTable(rows: rows).lines
    }

    private static func name(_ variants: [API.Variant], _ index: Int) -> String {
        guard variants.indices.contains(index) else { return "–" }
        let summary = variants[index].summary
        guard !summary.isEmpty else { return variants[index].id }
        return summary
    }

    /// The estimated size; nil if it is not known. Playlists give no size for renditions.
    private static func size(_ tracks: API.Tracks) -> Int? {
        let sizes =
            tracks.variants.map(\.estimatedBytes) + tracks.audio.map(\.estimatedBytes)
            + tracks.subtitles.map(\.estimatedBytes)
        let known = sizes.compactMap(\.self)
        guard !known.isEmpty else { return nil }
        return known.reduce(0, +)
    }
}
