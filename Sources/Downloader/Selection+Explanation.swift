public import Playlist

extension Selection {
    /// What a selection chooses, and why it does not choose the rest.
    public struct Explanation: Equatable, Sendable {
        /// A variant that is not chosen.
        public struct Other: Equatable, Sendable {
            /// Its place among the playlist's variants.
            public let variant: Int
            /// The one rule that put it behind, to stand behind "it".
            public let reason: String
        }

        /// The place of the chosen variant among the playlist's.
        public let variant: Int
        /// What it has before the others that meet what was asked for, to stand behind "it has".
        public let reason: String
        /// Every other variant, in the playlist's order.
        public let others: [Other]
        /// The places of the chosen renditions among the playlist's EXT-X-MEDIA, in the order in which they were asked
        /// for.
        public let media: [Int]
    }

    /// What it chooses of a playlist, and why.
    public func explanation(of playlist: MultivariantPlaylist) throws(NoMatch) -> Explanation {
        let choice = try VariantChoice(self, of: playlist)
        let others = playlist.variants.compactMap { variant in
            choice.reasons[variant.index].map { Explanation.Other(variant: variant.index, reason: $0) }
        }
        return Explanation(
            variant: choice.chosen.index, reason: choice.reason, others: others,
            media: try media(of: choice.chosen, in: playlist).map(\.index))
    }
}
