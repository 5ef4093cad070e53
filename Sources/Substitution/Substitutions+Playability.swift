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
            guard let lone = asset.renditions.first else { return "nothing is stored" }
            return await lone.missing().words(about: lone)
        }
        var search = MissingSearch(multivariant)
        var nearest: (share: Double, reason: String)?
        var slice = LoopSlice(budget: .seconds(1))
        let renditions = asset.renditions
        for variant in multivariant.variants where slice.mayGoOn {
            // Another playlist may have come in between.
            guard asset.renditions.count == renditions.count else { break }
            var needed: [Rendition] = []
            var share = 0.0
            for index in await search.neededRenditions(of: variant, among: renditions, &slice) {
                needed.append(renditions[index])
                share += await search.missing(of: renditions[index]).share
            }
            share /= Double(needed.count)
            await slice.giveWay()
            guard share > nearest?.share ?? 0 || share > 0 && nearest == nil else { continue }
            var reasons: [String] = []
            for rendition in needed {
                reasons.append(await search.missing(of: rendition).words(about: rendition))
            }
            nearest = (share, reasons.filter { !$0.isEmpty }.joined(separator: ", "))
        }
        return nearest?.reason ?? "no segment is stored"
    }
}

/// Looks for the variant that is closest to complete. Variants share the renditions of their groups: each is counted once.
@LoopActor private struct MissingSearch {
    private struct Group: Hashable {
        let kind: Media.Kind
        let id: String?
    }

    /// The renditions of each group, the default ones first; nil if a member has its media in the variant's own.
    private var members: [Group: [Int]?] = [:]
    private var known: [Int: MissingResources] = [:]
    private var best: [Group: Int] = [:]

    init(_ playlist: MultivariantPlaylist) {
        let groups = Dictionary(grouping: playlist.media.filter { Self.kinds.contains($0.type) }) { media in
            Group(kind: media.type, id: media.groupID)
        }
        for (group, media) in groups {
            let ordered = media.filter(\.isDefault) + media.filter { !$0.isDefault }
            let indices = ordered.compactMap(\.renditionIndex)
            members[group] = .some(indices.count == ordered.count ? indices : nil)
        }
    }

    private static let kinds: [Media.Kind] = [.audio, .video]

    mutating func missing(of rendition: Rendition) async -> MissingResources {
        if let found = known[rendition.index] {
            return found
        }
        let found = await rendition.missing()
        known[rendition.index] = found
        return found
    }

    /// The variant's own rendition, and from each group that it needs the most complete rendition, by index.
    mutating func neededRenditions(
        of variant: Variant, among renditions: [Rendition], _ slice: inout LoopSlice
    ) async -> [Int] {
        var needed = [variant.renditionIndex]
        for kind in Self.kinds {
            let group = Group(kind: kind, id: variant.group(kind))
            guard let all = members[group].flatMap(\.self), !all.contains(variant.renditionIndex) else { continue }
            if let known = best[group] {
                needed.append(known)
                continue
            }
            var found: (index: Int, share: Double)?
            for index in all {
                let share = await missing(of: renditions[index]).share
                if share > found?.share ?? -1 {
                    found = (index, share)
                }
                await slice.giveWay()
            }
            if let found {
                best[group] = found.index
                needed.append(found.index)
            }
        }
        return needed
    }
}

extension Rendition {
    /// Counts on a worker, if the playlist is long.
    fileprivate func missing() async -> MissingResources {
        guard let source, source.isDurable else { return MissingResources() }
        let segments = source.playlist.segments
        let givenUp = givenUpIndices
        let files = segmentFiles
        let sizes = folder.sizes
        let counted = await PureWork.shared.run(size: 64 * segments.count, for: self) { () -> (Int, Int) in
            var counts = (missing: 0, all: 0)
            for (segment, file) in zip(segments, files) where !segment.isGap && !givenUp.contains(segment.index) {
                counts.all += 1
                if sizes[file] == nil {
                    counts.missing += 1
                }
            }
            return counts
        }
        let numbers = Set(source.playlist.usedKeys.compactMap { number(of: $0) })
        let sections = Set(source.playlist.maps.map { name(of: $0).description })
        return MissingResources(
            segments: counted.map { (missing: $0.0, count: $0.1) },
            keys: numbers.count { !keys.hasFile($0) && keys.isUsable($0) },
            sections: sections.count { !folder.contains($0) },
            expiredKeys: numbers.count { keys.state(of: $0) == .expired },
            revokedKeys: numbers.count { keys.state(of: $0) == .revoked })
    }

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

    /// Describes them in a line.
    @LoopActor fileprivate func words(about rendition: Rendition) -> String {
        sentences(about: rendition.name.displayName).joined(separator: ", ")
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
