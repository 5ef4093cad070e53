package import Store

/// A piece that is open for reading. Whoever gets it owns the descriptor.
package struct OpenPiece {
    /// How the open file compares with what was verified.
    package enum State {
        /// It is the file that was verified.
        case verified
        /// It is a large one, whose blocks have these digests and are verified while they are sent.
        case verifiedByBlocks([Digest])
        /// Nothing is remembered of it.
        case unverified
        /// Another program has changed it since it was verified, so that it must be verified before it is sent.
        case changed
        /// It has another length than the piece: it is no piece any more.
        case lost
    }

    package let descriptor: Int32
    package let identity: FileIdentity
    package let state: State
}
