/// The source of the bytes that answer a segment request. Pure.
enum SegmentSource: Equatable {
    /// The rendition's own stored piece; spliced if substitutes were sent before.
    case piece(isSpliced: Bool)
    /// The origin. The fetch is completed and spliced if the decoder was given other parameter sets before.
    case fetch(isSpliced: Bool)
    case substitute
    /// No source.
    case refused

    /// Inputs of the choice.
    struct Situation: Equatable {
        /// True if the request is for a later range of a body that began with a substitute.
        var continuesSubstitute = false
        /// True if the rendition's own piece is stored.
        var isStored = false
        /// True if the origin may be asked.
        var mayAsk = true
        /// True if the origin was asked and did not deliver.
        var hasFailed = false
        /// Indicates that substitutes were, or may soon be, sent in this session.
        var joining = Composition.Joining.apart
    }

    /// Chooses the source.
    ///
    /// - Parameter hasSubstitute: true if another rendition's piece is available; evaluated only when needed.
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
