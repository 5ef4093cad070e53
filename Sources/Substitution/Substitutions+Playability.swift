public import Assets
import EventLoop
import Fetching
import HLS
public import Orders
import Store

extension Substitutions {
    /// Describes how an asset plays without its origin, from memory. For a certain answer call `Library.survey` first.
    public func playability(of asset: Asset) async -> Playability {
        if asset.isRecording {
            return Playability(.partial, "it is being recorded")
        }
        if asset.isLive {
            return Playability(.no, "it is live")
        }
        guard asset.content.entry != nil, asset.bytes > 0 else { return Playability(.no, "nothing is stored") }
        if let listed = await listedRenditions(of: asset) {
            guard !listed.contains(where: \.needsDRM) else {
                return Playability(.no, "it is protected by a content decryption module (DRM)")
            }
            return Playability(.yes, listed.map(\.state).joined(separator: ", "), duration: asset.duration)
        }
        let reason = await missingResources(of: asset)
        guard let ranges = await playableRanges(of: asset), ranges.isPlayable else { return Playability(.no, reason) }
        return Playability(.partial, reason, duration: ranges.seconds)
    }

    /// The renditions that play without the origin from end to end; nil if they do not make up an entry playlist.
    private func listedRenditions(of asset: Asset) async -> [Rendition]? {
        let indices: Set<Int>
        if asset.isPlayableOffline {
            indices = await offlineRenditions(of: asset)
        } else {
            guard let ranges = await playableRanges(of: asset), ranges.isPlayable, !ranges.isCut else { return nil }
            indices = Set(ranges.cuts.keys)
        }
        guard let multivariant = asset.multivariant else { return asset.renditions }
        let variants = multivariant.completeVariants(renditions: indices)
        guard !variants.isEmpty else { return nil }
        var groups: Set<[String?]> = []
        for variant in variants {
            for kind in Media.Kind.allCases {
                groups.insert([kind.rawValue, variant.group(kind)])
            }
        }
        let media = multivariant.media.filter { groups.contains([$0.type.rawValue, $0.groupID]) }
        let listed = variants.map(\.renditionIndex) + media.compactMap(\.renditionIndex).filter(indices.contains)
        var seen: Set<Int> = []
        return listed.filter { seen.insert($0).inserted }.map { asset.renditions[$0] }
    }

    /// Describes the missing resources of the variant that is closest to complete.
    private func missingResources(of asset: Asset) async -> String {
        guard let multivariant = asset.multivariant else {
            return asset.renditions.first.map(\.missingInWords) ?? "nothing is stored"
        }
        var nearest: (share: Double, reason: String)?
        var slice = LoopSlice(budget: .seconds(1))
        let count = asset.renditions.count
        for variant in multivariant.variants where slice.mayGoOn {
            // Another playlist may have come in between.
            guard asset.renditions.count == count else { break }
            let needed = neededRenditions(of: variant, multivariant, among: asset.renditions)
            let share = needed.map(\.missing.share).reduce(0, +) / Double(needed.count)
            await slice.giveWay()
            guard share > nearest?.share ?? 0 || share > 0 && nearest == nil else { continue }
            nearest = (share, needed.map(\.missingInWords).filter { !$0.isEmpty }.joined(separator: ", "))
        }
        return nearest?.reason ?? "no segment is stored"
    }

    /// The variant's own rendition, and from each group that it needs the most complete rendition.
    private func neededRenditions(
        of variant: Variant, _ playlist: MultivariantPlaylist, among renditions: [Rendition]
    ) -> [Rendition] {
        [renditions[variant.renditionIndex]]
            + [Media.Kind.audio, .video].compactMap { type in
                let group = playlist.media.filter { $0.type == type && $0.groupID == variant.group(type) }
                let members = group.filter(\.isDefault) + group.filter { !$0.isDefault }
                let indices = members.compactMap(\.renditionIndex)
                guard indices.count == members.count, !indices.contains(variant.renditionIndex) else { return nil }
                return indices.map { renditions[$0] }.max { $0.missing.share < $1.missing.share }
            }
    }
}

extension Rendition {
    fileprivate var missing: MissingResources {
        guard let source, source.isDurable else { return MissingResources() }
        let segments = source.playlist.segments.filter { !$0.isGap && !isWithoutCues($0) }
        let numbers = Set(source.playlist.usedKeys.compactMap { number(of: $0) })
        let sections = Set(source.playlist.maps.map { name(of: $0).description })
        return MissingResources(
            segments: (segments.count { !folder.contains(file(of: $0)) }, segments.count),
            keys: numbers.count { !keys.hasFile($0) && keys.isUsable($0) },
            sections: sections.count { !folder.contains($0) },
            expiredKeys: numbers.count { keys.state(of: $0) == .expired },
            revokedKeys: numbers.count { keys.state(of: $0) == .revoked })
    }

    fileprivate var missingInWords: String { missing.sentences(about: name.displayName).joined(separator: ", ") }

    /// Describes the state of a rendition that plays without the origin.
    fileprivate var state: String {
        let name = name.displayName ?? "it"
        guard isComplete else { return "\(name) with pieces of other qualities" }
        let holes = givenUpIndices.count
        guard holes > 0 else { return "\(name) complete" }
        let segments = holes == 1 ? "1 segment" : "\(holes) segments"
        return "\(name) complete but for \(segments) that the origin does not have"
    }
}

/// Counts the missing resources of a rendition.
struct MissingResources {
    /// The number of missing segments, and of all segments; nil if the playlist is unknown.
    var segments: (missing: Int, count: Int)?
    /// Neither stored, nor expired or revoked.
    var keys = 0
    /// Initialization sections.
    var sections = 0
    var expiredKeys = 0
    var revokedKeys = 0

    /// The stored share of the segments, from 0 to 1.
    var share: Double {
        guard let segments, segments.count > 0 else { return 0 }
        return 1 - Double(segments.missing) / Double(segments.count)
    }

    /// Describes the missing resources of a rendition.
    /// - Parameter name: the rendition's name; nil if the asset has only one.
    func sentences(about name: String?) -> [String] {
        var owner = ""
        if let name {
            owner = " of \(name)"
        }
        guard let segments else { return ["the playlist\(owner) is not known yet"] }
        var sentences: [String] = []
        if segments.missing > 0 {
            let segment = segments.count == 1 ? "segment" : "segments"
            let isMissing = segments.missing == 1 ? "is missing" : "are missing"
            sentences.append("\(segments.missing) of \(segments.count) \(segment)\(owner) \(isMissing)")
        }
        func add(_ count: Int, one: String, several: String) {
            if count == 1 {
                sentences.append("the \(one)")
            } else if count > 1 {
                sentences.append("\(count) \(several)")
            }
        }
        add(
            sections, one: "initialization section\(owner) is missing",
            several: "initialization sections\(owner) are missing")
        add(keys, one: "key\(owner) is missing", several: "keys\(owner) are missing")
        add(expiredKeys, one: "key\(owner) has expired", several: "keys\(owner) have expired")
        add(revokedKeys, one: "key\(owner) was revoked", several: "keys\(owner) were revoked")
        return sentences
    }
}
