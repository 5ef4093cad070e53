package import HLS
package import Orders

/// The content of a presentation that a selection chooses. Pure.
extension Selection {
    /// No variant or rendition matches; the description names the request and the available ones.
    package struct NoMatch: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
        /// The options that take what is nearest, as on a command line; nil if the tracks that there are have to be looked at.
        package let wayOut: String?

        init(description: String, wayOut: String? = nil) {
            self.description = description
            self.wayOut = wayOut
        }
    }

    /// Returns the media playlists as indexes in `MultivariantPlaylist.renditionURIs`, the variant's first.
    /// - Parameter excluded: the variants that cannot be had, as such indexes.
    package func renditions(
        of playlist: MultivariantPlaylist, without excluded: Set<Int> = []
    ) throws(NoMatch) -> [Int] {
        let choice = try VariantChoice(self, of: playlist, without: excluded)
        let variant = choice.chosen
        var indices = [variant.renditionIndex]
        for index in choice.media.compactMap(\.renditionIndex) where !indices.contains(index) {
            indices.append(index)
        }
        if wishes.keepsTrickPlay == true, let frames = playlist.iFrames(for: variant), !indices.contains(frames) {
            indices.append(frames)
        }
        return indices
    }

    /// Returns the chosen variant. Variants without video count only if no variant has video.
    package func variant(of playlist: MultivariantPlaylist) throws(NoMatch) -> Variant {
        try VariantChoice(self, of: playlist).chosen
    }
}

extension MultivariantPlaylist {
    /// The playlist of I-frames for trick play beside a variant, as an index in `renditionURIs`: the largest that is not larger
    /// than the variant's picture, else the smallest; of equal ones that with the highest bit rate. Nil if there is none.
    func iFrames(for variant: Variant) -> Int? {
        func height(_ size: Resolution?) -> Int { size?.height ?? 0 }
        let sorted = iFrameVariants.sorted {
            (height($0.resolution), $0.bandwidth) < (height($1.resolution), $1.bandwidth)
        }
        let limit = variant.resolution?.height ?? .max
        let smallest = sorted.first.map { height($0.resolution) }
        let fitting =
            sorted.last { height($0.resolution) <= limit } ?? sorted.last { height($0.resolution) == smallest }
        return fitting?.renditionIndex
    }
}

extension Selection {
    /// Explains the choice of a selection.
    package struct Explanation: Equatable, Sendable {
        /// A variant that was not chosen.
        package struct Other: Equatable, Sendable {
            /// Its index in the playlist.
            package let variant: Int
            /// The rule that excluded it, as text after "it".
            package let reason: String
        }

        /// Index of the chosen variant.
        package let variant: Int
        /// Its advantage over the other matching variants, as text after "it has".
        package let reason: String
        /// All other variants, in the playlist's order.
        package let others: [Other]
        /// Indexes of the chosen EXT-X-MEDIA renditions, in the order of the request.
        package let media: [Int]
    }

    /// Returns the choice in a playlist with its reasons.
    package func explanation(of playlist: MultivariantPlaylist) throws(NoMatch) -> Explanation {
        let choice = try VariantChoice(self, of: playlist)
        let others = playlist.variants.compactMap { variant in
            choice.reasons[variant.index].map { Explanation.Other(variant: variant.index, reason: $0) }
        }
        return Explanation(
            variant: choice.chosen.index, reason: choice.reason, others: others,
            media: choice.media.map(\.index))
    }
}

extension Selection {
    /// Returns the media playlists that a player may load, as indexes in `MultivariantPlaylist.renditionURIs`: what the selection
    /// chooses, and all of what it leaves open. Throws if nothing is left.
    package func playable(in playlist: MultivariantPlaylist) throws(NoMatch) -> Set<Int> {
        var variants = playlist.variants.sorted { $0.rank > $1.rank }
        if choosesVariant {
            let chosen = try variant(of: playlist)
            let others = variants.filter { $0.renditionIndex == chosen.renditionIndex && $0.index != chosen.index }
            variants = [chosen] + others
        }

        let groups = MediaGroups(playlist)
        var indexes: Set<Int> = []
        var firstMismatch: NoMatch?
        let pictures = Dictionary(grouping: variants, by: \.renditionIndex)
        for (_, variants) in pictures.sorted(by: { $0.key < $1.key }) {
            do throws(NoMatch) {
                // All groups of a picture together, and then what each has of the choice: another encoding may be the stored one.
                let together = try playable(from: variants, in: groups)
                let apart = variants.compactMap { try? playable(from: [$0], in: groups) }.flatMap(\.self)
                indexes.formUnion(variants.map(\.renditionIndex))
                indexes.formUnion((together + apart).compactMap(\.renditionIndex))
            } catch {
                // Another variant may have a group with the wanted language.
                firstMismatch = firstMismatch ?? error
            }
        }
        if indexes.isEmpty, let firstMismatch {
            throw firstMismatch
        }

        let others = playlist.media.filter { $0.type != .audio && $0.type != .subtitles }
        return indexes.union(others.compactMap(\.renditionIndex)).union(playlist.iFrameVariants.map(\.renditionIndex))
    }

    private func playable(from variants: [Variant], in groups: MediaGroups) throws(NoMatch) -> [Media] {
        try playable(.audio, choosesAudio, from: variants, in: groups)
            + playable(.subtitles, subtitles != nil, from: variants, in: groups)
    }

    private func playable(
        _ type: Media.Kind, _ isChosen: Bool, from variants: [Variant], in groups: MediaGroups
    ) throws(NoMatch) -> [Media] {
        guard isChosen else { return groups.members(of: variants, type).flatMap(\.self) }
        return try MediaChoice(self, of: type, for: variants, in: groups).chosen
    }
}
