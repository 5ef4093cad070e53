import HLS

/// The members of a playlist's groups, sorted once: a playlist may have 10,000 variants, and a group 10,000 members.
struct MediaGroups {
    private let members: [Media.Kind: [String: [Media]]]
    /// Groups of sound that only variants with codecs of more than stereo have.
    private let multichannelGroups: Set<String>

    init(_ playlist: MultivariantPlaylist) {
        members = Dictionary(grouping: playlist.media, by: \.type).mapValues {
            Dictionary(grouping: $0, by: \.groupID)
        }

        var multichannel: Set<String> = []
        var stereo: Set<String> = []
        for variant in playlist.variants {
            guard let group = variant.audio else { continue }
            if Self.areMultichannel(variant.codecs) {
                multichannel.insert(group)
            } else {
                stereo.insert(group)
            }
        }
        multichannelGroups = multichannel.subtracting(stereo)
    }

    func members(of variant: Variant, _ type: Media.Kind) -> [Media] {
        guard let group = variant.group(type) else { return [] }
        return members[type]?[group] ?? []
    }

    /// The members of the groups of several variants, each group once.
    func members(of variants: [Variant], _ type: Media.Kind) -> [[Media]] {
        var known: Set<String> = []
        return variants.compactMap { variant in
            guard let group = variant.group(type), known.insert(group).inserted else { return nil }
            return members[type]?[group]
        }
    }

    /// True if a sound may have more channels than two: CHANNELS says so, or is absent while the codec is one of Dolby's or
    /// DTS's. RFC 8216 §4.3.4.1 requires CHANNELS only where one codec has several layouts.
    func mayBeMultichannel(_ sound: Media) -> Bool {
        guard sound.channelCount > 0 else { return multichannelGroups.contains(sound.groupID) }
        return sound.channelCount > 2
    }

    private static let multichannelCodecs: Set<String> = [
        "ac-3", "ec-3", "ac-4", "dtsc", "dtse", "dtsh", "dtsl", "dtsx",
    ]
    private static let stereoCodecs: Set<String> = ["mp4a", "opus", "flac", "alac", "vorb"]

    /// True if codecs of more than stereo are among them, and none of stereo, which may be the codec of this group.
    private static func areMultichannel(_ codecs: [String]) -> Bool {
        let families = Set(codecs.map(family))
        return !families.isDisjoint(with: multichannelCodecs) && families.isDisjoint(with: stereoCodecs)
    }

    /// The part of a codec in front of its profile: `mp4a` of `mp4a.40.2`.
    private static func family(_ codec: String) -> String { codec.prefix { $0 != "." }.lowercased() }
}
