import HLS

/// Chooses the renditions that are played together if no variant is complete. It is one variant with its audio: players
/// switch variants, and another variant has other cuts. The variant with the longest playable duration wins, and among
/// equal ones the best.
struct PartialChoice {
    private let playlist: MultivariantPlaylist
    /// The stored segments of each rendition, by its index; nil if nothing is stored.
    private let tracks: [CommonRanges.Track?]
    /// The indices of the chosen renditions.
    private(set) var indices: [Int] = []
    /// Playable duration, in seconds.
    private var seconds = 0.0
    /// Playable duration by the indices that play together: many variants may have the same.
    private var lengths: [[Int]: Double] = [:]
    /// The number of segments that may still be looked at. The rest of a list of 10,000 long variants is left out.
    private var budget = 20_000_000
    /// Differences below this (seconds) are ignored.
    private static let tolerance = 0.5

    /// Makes the choice; it is empty if nothing can be played.
    init(_ playlist: MultivariantPlaylist, tracks: [CommonRanges.Track?]) {
        self.playlist = playlist
        self.tracks = tracks
        var chosen: Variant?
        for variant in playlist.variants.sorted(by: { $0.bandwidth > $1.bandwidth }) {
            guard budget > 0, let needed = neededIndices(of: variant) else { continue }
            let length = length(of: needed)
            // A lower bit rate must be worth its loss.
            let tolerance = chosen == nil ? 0 : Self.tolerance
            guard length > seconds + tolerance else { continue }
            chosen = variant
            indices = needed
            seconds = length
        }
        guard let chosen else { return }
        // Other languages and subtitles, if they need no additional cuts.
        for index in Media.Kind.allCases.flatMap({ members(of: chosen, $0) }).compactMap(\.renditionIndex)
        where tracks[index] != nil && !indices.contains(index) {
            if length(of: indices + [index]) >= seconds - Self.tolerance {
                indices.append(index)
            }
        }
    }

    /// The indices of the variant's own rendition, and of one from each group that it needs: the one that leaves the
    /// longest duration, or the default of several. Nil if one of them has no stored segment.
    private mutating func neededIndices(of variant: Variant) -> [Int]? {
        guard tracks[variant.renditionIndex] != nil else { return nil }
        var indices = [variant.renditionIndex]
        for type in [Media.Kind.audio, .video] {
            let members = members(of: variant, type)
            // Media without a URI is in the variant's own segments.
            let isMuxed = members.contains { $0.renditionIndex.map(indices.contains) ?? true }
            if members.isEmpty || isMuxed {
                continue
            }
            guard let index = best(of: members, with: indices) else { return nil }
            indices.append(index)
        }
        return indices
    }

    private mutating func best(of members: [Media], with indices: [Int]) -> Int? {
        var best: (index: Int, seconds: Double)?
        for member in members.filter(\.isDefault) + members.filter({ !$0.isDefault }) {
            guard let index = member.renditionIndex, tracks[index] != nil else { continue }
            let length = length(of: indices + [index])
            if length > best.map({ $0.seconds + Self.tolerance }) ?? 0 {
                best = (index, length)
            }
        }
        return best?.index
    }

    private mutating func length(of indices: [Int]) -> Double {
        if let known = lengths[indices] {
            return known
        }
        let needed = indices.compactMap { tracks[$0] }
        budget -= needed.reduce(0) { $0 + $1.durations.count }
        guard budget > 0 else { return 0 }
        let seconds = CommonRanges(needed).seconds
        lengths[indices] = seconds
        return seconds
    }

    private func members(of variant: Variant, _ type: Media.Kind) -> [Media] {
        guard let group = variant.group(type) else { return [] }
        return playlist.media.filter { $0.type == type && $0.groupID == group }
    }
}
