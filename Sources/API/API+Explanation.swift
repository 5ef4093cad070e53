extension API {
    /// The choice that a selection makes in a presentation, with a reason for each variant.
    public struct Explanation: Codable, Equatable, Sendable {
        /// A variant with a reason.
        public struct Reason: Codable, Equatable, Sendable {
            /// Index in the presentation's `tracks.variants`, because several variants may have the same id.
            public var place: Int
            /// The rendition's id in the store.
            public var id: String
            /// The rule that decided on the variant, in words.
            public var reason: String

            /// Creates a reason.
            public init(place: Int, id: String, reason: String) {
                self.place = place
                self.id = id
                self.reason = reason
            }
        }

        /// The chosen variant. The reason completes a sentence after "it has".
        public var chosen: Reason
        /// All other variants in the playlist's order. The reason completes a sentence after "it".
        public var others: [Reason]
        /// The tracks that a download would fetch.
        public var selection: Tracks
        /// Variants whose stored segments never substitute the chosen variant's, judged by their playlists and stored
        /// segments. The reason is a sentence without a full stop. Absent if there are none.
        public var unmixed: [Unmixed]?

        /// A variant whose segments cannot be combined with the chosen variant's.
        public struct Unmixed: Codable, Equatable, Sendable {
            /// The rendition's id in the store.
            public var id: String
            /// The reason in words.
            public var reason: String

            /// Creates a variant with its reason.
            public init(id: String, reason: String) {
                self.id = id
                self.reason = reason
            }
        }

        /// Creates an explanation.
        public init(chosen: Reason, others: [Reason], selection: Tracks) {
            self.chosen = chosen
            self.others = others
            self.selection = selection
        }
    }
}
