public import Playlist

extension Selection {
    /// Explains the choice of a selection.
    public struct Explanation: Equatable, Sendable {
        /// A variant that was not chosen.
        public struct Other: Equatable, Sendable {
            /// Its index in the playlist.
            public let variant: Int
            /// The rule that excluded it, as text after "it".
            public let reason: String
        }

        /// Index of the chosen variant.
        public let variant: Int
        /// Its advantage over the other matching variants, as text after "it has".
        public let reason: String
        /// All other variants, in the playlist's order.
        public let others: [Other]
        /// Indexes of the chosen EXT-X-MEDIA renditions, in the order of the request.
        public let media: [Int]
    }

    /// Returns the choice in a playlist with its reasons.
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
