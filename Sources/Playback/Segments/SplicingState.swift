import EventLoop

/// Tracks the substitutions that one session has received in one rendition. A decoder that was given other parameter
/// sets in-band must be given its own again, or it shows garbage. So once a spliced piece was sent, every segment that was
/// not requested before is spliced, whichever one the player requests next.
@LoopActor final class SplicingState {
    /// Progress towards splicing every piece.
    enum Stage: Int, Comparable {
        case unspliced
        /// A substitute may be on its way. The rendition's own pieces are spliced already, which does no harm: the
        /// player may request the next segment before it has received the previous one.
        case expected
        case spliced

        static func < (left: Stage, right: Stage) -> Bool { left.rawValue < right.rawValue }
    }

    private(set) var stage: Stage
    private let rendition: String
    private let forms: SegmentForms

    /// - Parameter mayFollowSplice: true if the pieces that the session received before are unknown, and some may have
    ///   been spliced.
    init(of rendition: String, _ forms: SegmentForms, mayFollowSplice: Bool) {
        self.rendition = rendition
        self.forms = forms
        let mayBeSpliced = mayFollowSplice || forms.hasSubstitutes(in: rendition)
        stage = mayBeSpliced ? .spliced : .unspliced
    }

    func advance(to stage: Stage) { self.stage = max(self.stage, stage) }

    /// The form in which a segment was sent; nil if it was not sent.
    func form(of segment: Int) -> SegmentForm? { forms.form(of: segment, in: rendition) }
    /// Records the form of a segment before its first byte is sent.
    func record(_ form: SegmentForm, of segment: Int) { forms.record(form, of: segment, in: rendition) }
}
