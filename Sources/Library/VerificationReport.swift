public import Store

/// What verifying an asset came to, rendition by rendition.
public struct VerificationReport: Equatable, Sendable {
    /// Pieces that a rendition names and the store lacks, one behind the other.
    public struct Hole: Equatable, Sendable {
        /// When they would play, in seconds; nil for keys and initialization sections.
        public let time: Range<Double>?
        /// The files of the first and of the last.
        public let first: String, last: String
        /// How many they are.
        public let count: Int
        /// Whether a download wants them.
        public let isWanted: Bool
    }

    /// A piece that was not what had come.
    public struct Mismatch: Equatable, Sendable {
        /// Its file.
        public let file: String
        /// When it plays, in seconds; nil where that is not known, or for what is no segment.
        public let time: Range<Double>?
        /// What was wrong.
        public let fault: PieceFault
        /// Whether it is there again.
        public let isMended: Bool
    }

    /// A rendition, or the keys or session data of the asset.
    public struct Part: Equatable, Sendable {
        /// The folder's name in the bundle.
        public let id: String
        /// How many pieces are there, and were right or have come since.
        public var pieces = 0
        /// The sum of their lengths.
        public var bytes: Int64 = 0
        /// The stretches of media time that are there, in seconds; what EXT-X-GAP marks counts as there.
        public var whole: [Range<Double>] = []
        /// What is missing; what was wrong aside.
        public var holes: [Hole] = []
        /// What was wrong.
        public var mismatches: [Mismatch] = []

        init(id: String) { self.id = id }

        /// How many pieces are missing that a download wants, or that were wrong.
        public var remaining: Int {
            holes.reduce(0) { $0 + ($1.isWanted ? $1.count : 0) } + mismatches.count { !$0.isMended }
        }
    }

    /// What there is anything of, or should be.
    public var parts: [Part] = []

    /// How many pieces are missing that a download wants, or that were wrong.
    public var remaining: Int { parts.reduce(0) { $0 + $1.remaining } }
}
