import Playlist

/// What a multivariant playlist says of a rendition, as far as it must be the same of another whose pieces are to stand
/// among its own.
struct RenditionTraits: Equatable {
    /// What it carries.
    enum Kind: Equatable {
        /// A variant's own: pictures, or sound alone; with the sound that belongs to it, or without.
        case variant(hasPictures: Bool, isMuxed: Bool)
        /// Sound beside variants.
        case sound(name: String, language: String?, channels: String?, characteristics: String?)
    }

    /// What it carries.
    let kind: Kind
    /// How it is coded, sorted; empty where nothing is said.
    let codecs: [String]
    /// VIDEO-RANGE.
    let range: String
    /// REQ-VIDEO-LAYOUT.
    let layout: String?
    /// Frames a second, or as many as must be reckoned with where nothing is said.
    let frameRate: Double
    /// Which of two is better: bits a second. Sound counts as the least variant that it goes with.
    let bandwidth: Int
    /// What is to be expected of it, in bits a second: AVERAGE-BANDWIDTH, where it is given.
    let rate: Int

    /// What is taken for the frame rate where none is given.
    private static let usualRate = 30.0

    /// Of the rendition at a place in `renditionURIs`; nil of one that nothing can stand in for: subtitles, other
    /// camera angles, and what is for trick play alone.
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
        let sound = playlist.media.filter { $0.type == .audio && $0.groupID == variant.audio }
        let isApart = sound.contains { $0.renditionIndex.map { $0 != variant.renditionIndex } ?? false }
        let hasPictures = variant.resolution != nil || codecs.contains { !Self.isSound($0) }
        kind = .variant(hasPictures: hasPictures, isMuxed: !isApart)
        // The sound's codec is of another rendition then.
        self.codecs = isApart && hasPictures ? codecs.filter { !Self.isSound($0) } : codecs
        (range, layout) = (variant.videoRange ?? "SDR", variant.requiredVideoLayout)
        frameRate = max(variant.frameRate ?? Self.usualRate, 1)
        bandwidth = variant.bandwidth
        rate = variant.averageBandwidth ?? variant.bandwidth
    }

    private init(_ media: Media, in playlist: MultivariantPlaylist) {
        let variants = playlist.variants.filter { $0.audio == media.groupID }
        kind = .sound(
            name: media.name, language: media.language, channels: media.channels,
            characteristics: media.characteristics)
        codecs = Self.families(variants.first?.codecs ?? []).filter(Self.isSound)
        (range, layout, frameRate) = ("SDR", nil, Self.usualRate)
        bandwidth = variants.map(\.bandwidth).min() ?? 0
        rate = bandwidth
    }

    /// Whether it is sound beside variants: what it goes with says more of it than its quality.
    var isSoundApart: Bool {
        if case .sound = kind { true } else { false }
    }

    /// Why pieces of the other cannot stand among those of this one: a sentence without a full stop; nil when they may
    /// be able to.
    func obstacle(to other: RenditionTraits) -> String? {
        if kind != other.kind { return "it does not carry the same: sound, language, or sound apart from pictures" }
        if !codecs.isEmpty, !other.codecs.isEmpty, codecs != other.codecs {
            return "it is coded as \(other.codecs.joined(separator: ", ")), not \(codecs.joined(separator: ", "))"
        }
        if range != other.range { return "its VIDEO-RANGE is \(other.range), not \(range)" }
        return layout == other.layout ? nil : "it has another REQ-VIDEO-LAYOUT"
    }

    /// Codecs as far as they must be the same: profiles and levels of pictures may differ, but not those of sound.
    private static func families(_ codecs: [String]) -> [String] {
        let families = codecs.map { codec in
            let name = String(codec.prefix { $0 != "." })
            return isSound(name) ? codec : aliases[name] ?? name
        }
        return Set(families).sorted()
    }

    /// Those whose parameter sets may stand within the samples too.
    private static let aliases = ["avc3": "avc1", "hev1": "hvc1"]

    private static func isSound(_ codec: String) -> Bool {
        ["mp4a", "ac-3", "ec-3", "ac-4", "opus", "Opus", "fLaC", "alac", "mp3"].contains { codec.hasPrefix($0) }
    }
}
