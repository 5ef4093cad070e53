import ArgumentParser
import Control

/// `weir show`
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show what an asset or a URL offers, and what of it is stored.")

    @Argument(help: ArgumentHelp("The name of an asset, or any HLS URL.", valueName: "name|url"))
    var source: String

    @Flag(help: "Write one JSON object.")
    var json = false

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reporting(common) {
            let client = try common.daemon().client
            if PlayerURL.isURL(source) {
                let presentation = try await client.inspect(url: source)
                try write(presentation, Self.lines(presentation))
            } else {
                let asset = try await client.asset(named: source)
                try write(asset, Self.lines(asset))
            }
        }
    }

    private func write(_ shape: some Encodable, _ lines: [String]) throws {
        guard json else { return lines.forEach(Output.line) }
        Output.line(String(decoding: try API.encode(shape), as: UTF8.self))
    }

    static func lines(_ asset: API.Asset) -> [String] {
        let time = asset.isLive ? "live" : asset.duration.map(Format.clock)
        let head = [asset.name, asset.title, time, stored(asset)].compactMap(\.self).joined(separator: "  ")
        let change = asset.hasChanged == true ? [changed(asset.name)] : []
        return [head, asset.url] + change + lines(asset.tracks)
    }

    private static func changed(_ name: String) -> String {
        "The origin has other content now; what is stored goes on as it was until \"weir remove \(name)\"."
    }

    private static func stored(_ asset: API.Asset) -> String {
        switch asset.local {
        case .none: "nothing stored"
        case .partly: "partly stored, \(Format.bytes(asset.bytes))"
        case .complete: "stored, \(Format.bytes(asset.bytes))"
        }
    }

    static func lines(_ presentation: API.Presentation) -> [String] {
        let time = presentation.isLive ? "live" : presentation.duration.map(Format.clock)
        let head = [presentation.title ?? presentation.name, time].compactMap(\.self).joined(separator: "  ")
        return (head.isEmpty ? [] : [head]) + [presentation.url] + lines(presentation.tracks)
    }

    private static func lines(_ tracks: API.Tracks) -> [String] {
        var rows = [["VARIANT", "BIT RATE", "CODECS", "SIZE", "STORED"]]
        rows += tracks.variants.map { variant in
            let size = variant.width.flatMap { width in variant.height.map { " \(width)x\($0)" } } ?? ""
            return [
                (variant.quality ?? variant.id) + size, variant.bandwidth.map(Format.bandwidth) ?? "–",
                variant.codecs ?? "–",
                storedSize(bytes: variant.bytes, of: variant.estimatedBytes, local: variant.local), variant.local.word,
            ]
        }
        rows += tracks.audio.map { row("audio", $0) } + tracks.subtitles.map { row("subs", $0) }
        return rows.count > 1 ? [""] + TextTable(rows: rows).lines : []
    }

    private static func row(_ kind: String, _ rendition: API.Rendition) -> [String] {
        let notes = [
            rendition.name, rendition.isDefault ? "default" : nil, rendition.isForced == true ? "forced" : nil,
        ]
        let size =
            rendition.id == nil
            ? "in the variants"
            : storedSize(bytes: rendition.bytes, of: rendition.estimatedBytes, local: rendition.local)
        return [
            "\(kind) \(rendition.shortName)", "–", notes.compactMap(\.self).joined(separator: ", "), size,
            rendition.local.word,
        ]
    }
}
