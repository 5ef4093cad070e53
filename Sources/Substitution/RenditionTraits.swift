import Playlist

/// The attributes of a rendition in the multivariant playlist that must match for a substitution.
struct RenditionTraits: Equatable {
    /// The content of a rendition.
    enum Kind: Equatable {
        /// A variant's own rendition: with video or audio only; with audio muxed or separate.
        case variant(hasVideo: Bool, isMuxed: Bool)
        case separateAudio(name: String, language: String?, channels: String?, characteristics: String?)
    }

    let kind: Kind
    /// CODECS, sorted; empty if the attribute is absent.
    let codecs: [String]
    /// VIDEO-RANGE.
    let range: String
    /// REQ-VIDEO-LAYOUT.
    let layout: String?
    /// Frames per second; a default if the attribute is absent.
    let frameRate: Double
    /// Bits per second; decides which of two renditions is better. Audio counts as the lowest variant that uses it.
    let bandwidth: Int
    /// The expected bits per second: AVERAGE-BANDWIDTH, if present.
    let rate: Int
    private static let defaultFrameRate = 30.0

    /// Reads the traits by place in `renditionURIs`; nil without substitutes: subtitles, camera angles, trick play.
    init?(ofRendition place: Int, in playlist: MultivariantPlaylist) {
        if let variant = playlist.variants.first(where: { $0.renditionIndex == place }) {
            self.init(variant, in: playlist)
        } else if let media = playlist.media.first(where: { $0.renditionIndex == place }), media.type == .audio {
            self.init(media, in: playlist)
        } else {
            return nil
        }
    }

    private init(_ variant: Variant, in playlist: MultivariantPlaylist) {
        let codecs = Self.families(variant.codecs)
        let audio = playlist.media.filter { $0.type == .audio && $0.groupID == variant.audio }
        let isSeparate = audio.contains { $0.renditionIndex.map { $0 != variant.renditionIndex } ?? false }
        let hasVideo = variant.resolution != nil || codecs.contains { !Self.isAudio($0) }
        kind = .variant(hasVideo: hasVideo, isMuxed: !isSeparate)
        // The codec of separate audio belongs to another rendition.
        self.codecs = isSeparate && hasVideo ? codecs.filter { !Self.isAudio($0) } : codecs
        (range, layout) = (variant.videoRange ?? "SDR", variant.requiredVideoLayout)
        frameRate = max(variant.frameRate ?? Self.defaultFrameRate, 1)
        bandwidth = variant.bandwidth
        rate = variant.averageBandwidth ?? variant.bandwidth
    }

    private init(_ media: Media, in playlist: MultivariantPlaylist) {
        let variants = playlist.variants.filter { $0.audio == media.groupID }
        kind = .separateAudio(
            name: media.name, language: media.language, channels: media.channels,
            characteristics: media.characteristics)
        codecs = Self.families(variants.first?.codecs ?? []).filter(Self.isAudio)
        (range, layout, frameRate) = ("SDR", nil, Self.defaultFrameRate)
        bandwidth = variants.map(\.bandwidth).min() ?? 0
        rate = bandwidth
    }

    var isSeparateAudio: Bool { if case .separateAudio = kind { true } else { false } }

    /// The reason why the other's pieces are no substitutes: a sentence without a full stop; nil if they may be.
    func obstacle(to other: RenditionTraits) -> String? {
        if kind != other.kind { return "it does not carry the same: sound, language, or sound apart from pictures" }
        if !codecs.isEmpty, !other.codecs.isEmpty, codecs != other.codecs {
            return "it is coded as \(other.codecs.joined(separator: ", ")), not \(codecs.joined(separator: ", "))"
        }
        if range != other.range { return "its VIDEO-RANGE is \(other.range), not \(range)" }
        return layout == other.layout ? nil : "it has another REQ-VIDEO-LAYOUT"
    }

    /// Reduces codecs to the part that must match: profiles and levels of video may differ, but not those of audio.
    private static func families(_ codecs: [String]) -> [String] {
        let families = codecs.map { codec in
            let name = String(codec.prefix { $0 != "." })
            return isAudio(name) ? codec : aliases[name] ?? name
        }
        return Set(families).sorted()
    }

    /// Codecs whose parameter sets may also be in the samples.
    private static let aliases = ["avc3": "avc1", "hev1": "hvc1"]

    private static func isAudio(_ codec: String) -> Bool {
        ["mp4a", "ac-3", "ec-3", "ac-4", "opus", "Opus", "fLaC", "alac", "mp3"].contains { codec.hasPrefix($0) }
    }
}
