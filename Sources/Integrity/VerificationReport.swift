public import Store

/// The findings of a verification, rendition by rendition.
public struct VerificationReport: Equatable, Sendable {
    /// Consecutive pieces that a rendition names and the store lacks.
    public struct Hole: Equatable, Sendable {
        /// The range of media time in seconds; nil for keys and initialization sections.
        public let time: Range<Double>?
        /// File names of the first and the last piece.
        public let first: String, last: String
        /// Number of pieces.
        public let count: Int
        /// True if a download pins the pieces.
        public let isWanted: Bool
    }

    /// A damaged piece.
    public struct Mismatch: Equatable, Sendable {
        /// The file name.
        public let file: String
        /// The segment's range of media time in seconds; nil if it is not known, and for other pieces.
        public let time: Range<Double>?
        /// The kind of damage.
        public let fault: PieceFault
        /// True if the piece was stored again.
        public let isMended: Bool
    }

    /// A rendition, or the keys or session data of the asset.
    public struct Part: Equatable, Sendable {
        /// The name of the folder in the bundle.
        public let id: String
        /// Number of stored pieces: undamaged and repaired ones.
        public var pieces = 0
        /// Bytes of these pieces.
        public var bytes: Int64 = 0
        /// Stored ranges of media time in seconds. Segments marked by EXT-X-GAP count as stored.
        public var whole: [Range<Double>] = []
        /// Missing pieces, without the damaged ones.
        public var holes: [Hole] = []
        /// Damaged pieces.
        public var mismatches: [Mismatch] = []

        init(id: String) { self.id = id }

        /// Number of missing pieces that a download pins or that were damaged.
        public var remaining: Int {
            holes.reduce(0) { $0 + ($1.isWanted ? $1.count : 0) } + mismatches.count { !$0.isMended }
        }
    }

    /// The parts with stored or pinned pieces.
    public var parts: [Part] = []

    /// Number of missing pieces that a download pins or that were damaged.
    public var remaining: Int { parts.reduce(0) { $0 + $1.remaining } }
}
