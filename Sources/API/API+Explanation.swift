extension API {
    /// What a selection chooses of a presentation, and why it does not choose the rest.
    public struct Explanation: Codable, Equatable, Sendable {
        /// A variant with a reason.
        public struct Reason: Codable, Equatable, Sendable {
            /// Its place among the presentation's `tracks.variants`, from 0: several may have the same id.
            public var place: Int
            /// What the store calls its rendition.
            public var id: String
            /// The one rule that decided on it, in words.
            public var reason: String

            /// A reason.
            public init(place: Int, id: String, reason: String) {
                self.place = place
                self.id = id
                self.reason = reason
            }
        }

        /// The chosen variant; the reason goes behind "it has".
        public var chosen: Reason
        /// Every other one, in the playlist's order; the reason goes behind "it".
        public var others: [Reason]
        /// What would be fetched.
        public var selection: Tracks
        /// Variants whose stored segments never stand in for the chosen one's, as far as their playlists and stored
        /// segments tell; the reason is a sentence about them without a full stop. Absent where there are none.
        public var unmixed: [Unmixed]?

        /// A variant whose segments do not go together with the chosen one's.
        public struct Unmixed: Codable, Equatable, Sendable {
            /// What the store calls its rendition.
            public var id: String
            /// Why.
            public var reason: String

            /// A variant with its reason.
            public init(id: String, reason: String) {
                self.id = id
                self.reason = reason
            }
        }

        /// An explanation.
        public init(chosen: Reason, others: [Reason], selection: Tracks) {
            self.chosen = chosen
            self.others = others
            self.selection = selection
        }
    }
}
