import Fetching
import Playlist
import Store

extension Asset {
    /// Describes how the asset plays without its origin, from the known state without reading the disk. For a certain
    /// answer call `Library.survey` first.
    public var playability: Playability {
        if isRecording { return Playability(.part, "it is being recorded") }
        if isLive { return Playability(.no, "it is live") }
        guard entry != nil, bytes > 0 else { return Playability(.no, "nothing is stored") }
        if let whole = listedWithoutOrigin {
            guard !whole.contains(where: \.needsDRM) else {
                return Playability(.no, "it is protected by a content decryption module (DRM)")
            }
            return Playability(.yes, whole.map(\.stateInWords).joined(separator: ", "), seconds: duration)
        }
        let reason = lackInWords
        guard let stored = storedStretches, stored.isPlayable else { return Playability(.no, reason) }
        return Playability(.part, reason, seconds: stored.seconds)
    }

    /// The renditions that play without the origin from the first segment to the last; nil if they do not make up an
    /// entry playlist.
    private var listedWithoutOrigin: [Rendition]? {
        guard let places = uncutRenditions else { return nil }
        guard let multivariant else { return renditions }
        let variants = multivariant.completeVariants(renditions: places)
        guard !variants.isEmpty else { return nil }
        let groups = Set(variants.flatMap { variant in Media.Kind.allCases.map { [$0.rawValue, variant.group($0)] } })
        let media = multivariant.media.filter { groups.contains([$0.type.rawValue, $0.groupID]) }
        let listed = variants.map(\.renditionIndex) + media.compactMap(\.renditionIndex).filter(places.contains)
        var seen: Set<Int> = []
        return listed.filter { seen.insert($0).inserted }.map { renditions[$0] }
    }

    /// The places of the renditions that an entry without the origin lists; empty if any of them has a cut.
    private var uncutRenditions: Set<Int>? {
        if isPlayableOffline { return multivariant == nil ? [0] : offlineRenditions }
        guard let stored = storedStretches, stored.isPlayable, !stored.isCut else { return nil }
        return Set(stored.cuts.keys)
    }

    /// Describes the missing resources of the variant that is closest to complete.
    private var lackInWords: String {
        guard let multivariant else { return renditions.first.map(Self.lacks) ?? "nothing is stored" }
        var nearest: (share: Double, reason: String)?
        for variant in multivariant.variants {
            let needed = essentials(of: variant, multivariant)
            let share = needed.map(\.lack.share).reduce(0, +) / Double(needed.count)
            guard share > nearest?.share ?? 0 || share > 0 && nearest == nil else { continue }
            nearest = (share, needed.map(Self.lacks).filter { !$0.isEmpty }.joined(separator: ", "))
        }
        return nearest?.reason ?? "no segment is stored"
    }

    /// The variant's own rendition, and from each group that it needs the most complete rendition.
    private func essentials(of variant: Variant, _ playlist: MultivariantPlaylist) -> [Rendition] {
        [renditions[variant.renditionIndex]]
            + [Media.Kind.audio, .video].compactMap { type in
                let group = playlist.media.filter { $0.type == type && $0.groupID == variant.group(type) }
                let members = group.filter(\.isDefault) + group.filter { !$0.isDefault }
                let places = members.compactMap(\.renditionIndex)
                guard places.count == members.count, !places.contains(variant.renditionIndex) else { return nil }
                return places.map { renditions[$0] }.max { $0.lack.share < $1.lack.share }
            }
    }

    private static func lacks(_ rendition: Rendition) -> String {
        rendition.lack.sentences(about: rendition.inWords).joined(separator: ", ")
    }
}

extension Rendition {
    /// Counts the missing resources of the rendition; zero for a complete one.
    var lack: RenditionLack {
        guard let source, source.isDurable else { return RenditionLack() }
        let missing = source.playlist.segments.count { !$0.isGap && !folder.contains(file(of: $0)) }
        let numbers = Set(source.playlist.keys.compactMap { number(of: $0) })
        let sections = Set(source.playlist.maps.map { name(of: $0).description })
        return RenditionLack(
            segments: (missing, source.needed),
            keys: numbers.count { !keys.folder.contains(KeyRing.name($0).description) && keys.isUsable($0) },
            sections: sections.count { !folder.contains($0) },
            expiredKeys: numbers.count { keys.state(of: $0) == .expired },
            invalidatedKeys: numbers.count { keys.state(of: $0) == .invalidated })
    }

    /// A short name for messages: `720p`, `audio en`; nil if the asset has only one rendition.
    var inWords: String? {
        if name == RenditionNaming.lone { return nil }
        let words = name.id.split(separator: "-").joined(separator: " ")
        return words.hasPrefix("video ") ? String(words.dropFirst(6)) : words
    }

    /// Describes the state of a rendition that plays without the origin.
    fileprivate var stateInWords: String {
        (inWords ?? "it") + (isWhole ? " whole" : " with pieces of other qualities")
    }
}
