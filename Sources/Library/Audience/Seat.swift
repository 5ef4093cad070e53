public import EventLoop
import Fetching

/// Where a session looks at one rendition from: the way on which playback tells the audience what is asked for there.
///
/// It lies beside the road that stored pieces take, so a note costs no more than a place in an array.
@LoopActor public final class Seat {
    let session: String
    let asset: Asset
    let rendition: Rendition
    let kind: SessionPlayhead.Kind
    private weak var audience: Audience?

    init(
        _ session: String, at asset: Asset, _ rendition: Rendition, _ kind: SessionPlayhead.Kind, _ audience: Audience
    ) {
        self.session = session
        self.asset = asset
        self.rendition = rendition
        self.kind = kind
        self.audience = audience
    }

    /// The player gets a piece out of the store, by its file's name. What it is and means is looked at a moment later,
    /// together with others.
    public func took(_ file: String) { audience?.note(file, self) }

    /// The player waits for a fetch's bytes, beginning now; `arrived` ends that.
    public func awaits(_ file: String) { audience?.awaits(file, self) }

    /// The player has got the last byte of what it waited for; or its reply ended early, because it left or the origin
    /// failed.
    ///
    /// - Parameter bytes: what it has got; 0 where that is not known.
    public func arrived(_ file: String, _ bytes: Int64 = 0, isWhole: Bool) {
        audience?.arrived(file, self, bytes, isWhole: isWhole)
    }

    /// The segment behind a file's name; nil for an initialization section, or what is not listed any more.
    func span(of file: String) -> SegmentSpan? {
        guard case .segment(let number)? = PieceName(file)?.role else { return nil }
        return rendition.timeline?.span(of: number)
    }
}
