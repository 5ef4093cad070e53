import Playlist

/// Which renditions are played together where none of the variants is whole.
///
/// It is one variant with its sound: players change between variants, and what is stored of another one is cut
/// elsewhere. Of all the one that the most can be played of counts, and of those that have the same the best.
struct PartialChoice {
    private let playlist: MultivariantPlaylist
    /// What is stored of each rendition, by its place; nil where it is nothing.
    private let tracks: [CommonCut.Track?]
    /// The places of what is played.
    private(set) var places: [Int] = []
    /// How long it lasts.
    private var seconds = 0.0

    /// Less than that, in seconds, no choice is made by.
    private static let notice = 0.5

    /// Chooses. Nothing is chosen where nothing can be played.
    init(_ playlist: MultivariantPlaylist, tracks: [CommonCut.Track?]) {
        (self.playlist, self.tracks) = (playlist, tracks)
        var chosen: Variant?
        for variant in playlist.variants.sorted(by: { $0.bandwidth > $1.bandwidth }) {
            guard let needed = essentials(of: variant) else { continue }
            let length = length(of: needed)
            guard length > seconds + (chosen == nil ? 0 : Self.notice) else { continue }
            (chosen, places, seconds) = (variant, needed, length)
        }
        if let chosen { addOthers(of: chosen) }
    }

    /// The places of the variant's own rendition, and of one of each group that it needs: of several, the one that
    /// leaves the most, and first the default. Nil where nothing is there of one of them.
    private func essentials(of variant: Variant) -> [Int]? {
        guard tracks[variant.renditionIndex] != nil else { return nil }
        var places = [variant.renditionIndex]
        for type in [Media.Kind.audio, .video] {
            let members = members(of: variant, type)
            // What has no URI is in the variant's own segments.
            let isWithin = members.contains { $0.renditionIndex.map(places.contains) ?? true }
            if members.isEmpty || isWithin { continue }
            guard let place = best(of: members, with: places) else { return nil }
            places.append(place)
        }
        return places
    }

    private func best(of members: [Media], with places: [Int]) -> Int? {
        var best: (place: Int, seconds: Double)?
        for member in members.filter(\.isDefault) + members.filter({ !$0.isDefault }) {
            guard let place = member.renditionIndex, tracks[place] != nil else { continue }
            let length = length(of: places + [place])
            if length > best.map({ $0.seconds + Self.notice }) ?? 0 { best = (place, length) }
        }
        return best?.place
    }

    /// Other languages and subtitles are there where nothing more has to be cut for them.
    private mutating func addOthers(of variant: Variant) {
        for type in Media.Kind.allCases {
            for place in members(of: variant, type).compactMap(\.renditionIndex)
            where tracks[place] != nil && !places.contains(place) {
                if length(of: places + [place]) >= seconds - Self.notice { places.append(place) }
            }
        }
    }

    private func length(of places: [Int]) -> Double { CommonCut(places.compactMap { tracks[$0] }).seconds }

    private func members(of variant: Variant, _ type: Media.Kind) -> [Media] {
        guard let group = variant.group(type) else { return [] }
        return playlist.media.filter { $0.type == type && $0.groupID == group }
    }
}
