public import Store

/// The findings of a verification, rendition by rendition.
public struct VerificationReport: Equatable, Sendable {
    /// Consecutive pieces that a rendition names and the store lacks.
    public struct Hole: Equatable, Sendable {
        /// Their time, in seconds; nil for keys and initialization sections.
        public let time: Range<Double>?
        /// The first file and the last.
        public let first: String, last: String
        /// The number of pieces.
        public let count: Int
        /// True if a download pins them.
        public let isWanted: Bool
    }

    /// A piece that differs from what was stored.
    public struct Mismatch: Equatable, Sendable {
        /// The file.
        public let file: String
        /// A segment's time, in seconds; nil if it is unknown, and for other pieces.
        public let time: Range<Double>?
        /// The damage.
        public let fault: PieceFault
        /// True if the piece was stored again.
        public let isMended: Bool
    }

    /// A rendition, or the keys or session data of the asset.
    public struct Part: Equatable, Sendable {
        /// The folder's name in the bundle.
        public let id: String
        /// The number of stored pieces: undamaged ones, and those fetched since.
        public var pieces = 0
        /// The sum of their lengths.
        public var bytes: Int64 = 0
        /// The stretches of media time that are stored, in seconds; segments marked by EXT-X-GAP count as stored.
        public var whole: [Range<Double>] = []
        /// Missing pieces, except damaged ones.
        public var holes: [Hole] = []
        /// Damaged pieces.
        public var mismatches: [Mismatch] = []

        init(id: String) { self.id = id }

        /// The number of missing pieces that a download pins, or that were damaged.
        public var remaining: Int {
            holes.reduce(0) { $0 + ($1.isWanted ? $1.count : 0) } + mismatches.count { !$0.isMended }
        }
    }

    /// The parts of which anything is stored or pinned.
    public var parts: [Part] = []

    /// The number of missing pieces that a download pins, or that were damaged.
    public var remaining: Int { parts.reduce(0) { $0 + $1.remaining } }
}
