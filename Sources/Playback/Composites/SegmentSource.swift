/// Where the bytes come from that a segment is answered with. Pure.
enum SegmentSource: Equatable {
    /// The rendition's own piece; spliced where pieces of others stand among them.
    case piece(isSpliced: Bool)
    /// The origin; waited for to its end and spliced, where what came before has told the decoder of other pictures.
    case fetch(isSpliced: Bool)
    /// Another rendition's piece.
    case substitute
    /// Nothing.
    case refused

    /// What is known when a segment is asked for.
    struct Situation: Equatable {
        /// Whether the request goes on with a body, in the midst of it, that a substitute has begun.
        var continuesSubstitute = false
        /// Whether the piece is there.
        var isStored = false
        /// Whether the origin may be asked.
        var mayAsk = true
        /// Whether it has been asked, and did not give it.
        var hasFailed = false
        /// Whether other renditions' pieces stand, or may soon stand, among those that the session has got.
        var joining = Composition.Joining.apart
    }

    /// Chooses.
    ///
    /// - Parameter hasSubstitute: whether another rendition's piece can stand in; looked for only where it counts.
    init(_ situation: Situation, hasSubstitute: @autoclosure () -> Bool) {
        if situation.continuesSubstitute, hasSubstitute() {
            self = .substitute
        } else if situation.isStored {
            self = .piece(isSpliced: situation.joining != .apart)
        } else if situation.mayAsk, !situation.hasFailed {
            self = .fetch(isSpliced: situation.joining == .joined)
        } else {
            self = hasSubstitute() ? .substitute : .refused
        }
    }
}
