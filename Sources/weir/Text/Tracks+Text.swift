import Orders
import WeirAPI

extension API.Variant {
    /// The first codec without its profile: `avc1`.
    var shortCodec: String? { codecs?.split(separator: ",").first?.split(separator: ".").first.map(String.init) }

    /// A summary: `720p avc1 2.1 Mb/s`.
    var summary: String {
        let parts = [quality, shortCodec, bandwidth.map(Format.bandwidth)]
        return parts.compactMap(\.self).joined(separator: " ")
    }
}

extension API.Rendition {
    /// The language, such as `en`, or else NAME of the playlist.
    var shortName: String { language ?? name }

    /// The language or name, with the layout of a sound that has more than one or two channels: `en 5.1`.
    var shortNameAndLayout: String {
        guard let layout, layout != "stereo", layout != "mono" else { return shortName }
        return "\(shortName) \(layout)"
    }

    /// The channels in words: `stereo`, `5.1`; nil if the playlist does not give them.
    var layout: String? {
        guard let count = channels.flatMap({ Int($0.prefix { $0.isNumber }) }), count > 0 else { return nil }
        return switch count {
        case 1: "mono"
        case 2: "stereo"
        case 6: "5.1"
        case 8: "7.1"
        default: "\(count) channels"
        }
    }
}

extension API.Tracks {
    /// A summary: `720p avc1 2.1 Mb/s + audio en + subs en`.
    var summary: String {
        let all =
            variants.map(\.summary).filter { !$0.isEmpty } + audio.map { "audio \($0.shortNameAndLayout)" }
            + subtitles.map { "subs \($0.shortName)" }
        return all.joined(separator: " + ")
    }

    /// The available choices, each once: `720p`, `1080p`, `audio fr`, `subs en`.
    var choices: [String] {
        var seen: Set<String> = []
        let qualities = variants.map { variant in
            variant.quality ?? variant.id
        }
        let all =
            qualities + audio.map { "audio \($0.shortName)" }
            + subtitles.map { "subs \($0.shortName)" }
        return all.filter { seen.insert($0).inserted }
    }
}

/// The stored part of a track, for a table.
struct StoredTrack {
    let state: AssetState
    let isComplete: Bool
    let bytes: Int
    let estimate: Int?

    init(_ variant: API.Variant) {
        state = variant.stored
        isComplete = variant.isComplete
        bytes = variant.bytes
        estimate = variant.estimatedBytes
    }

    init(_ rendition: API.Rendition) {
        state = rendition.stored
        isComplete = rendition.isComplete
        bytes = rendition.bytes
        estimate = rendition.estimatedBytes
    }

    /// The state in words: `partly saved`; `–` if nothing is stored.
    var words: String { state == .notStored ? "–" : state.words }

    /// The stored size and the total: `240 MB`, `151 of about 240 MB`, `about 240 MB`, `–`.
    var size: String {
        if state == .notStored {
            return estimate.map(Format.estimate) ?? "–"
        }
        guard !isComplete, let estimate, estimate > bytes else { return Format.bytes(bytes) }
        return "\(Format.bytes(bytes)) of \(Format.estimate(estimate))"
    }
}
