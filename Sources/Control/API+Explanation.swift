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

        /// An explanation.
        public init(chosen: Reason, others: [Reason], selection: Tracks) {
            self.chosen = chosen
            self.others = others
            self.selection = selection
        }
    }
}
