import Assets
import EventLoop
import Fetching
import Sessions
import Substitution

/// The state of one session on which its next answer depends: what it was sent, and what it waits for. Its record has what is measured.
@LoopActor final class ServedSession {
    let record: SessionRecord
    /// Chooses the quality of the session's segments; nil if the player does.
    let adapter: Adapter?
    /// The segments that the player waits for.
    let awaited = AwaitedSegments()
    /// The forms in which segments were sent. Read from disk when a segment is requested that may have several.
    private lazy var forms = SegmentForms(of: record.id, asset: record.asset.id, in: files)
    private let files: SessionFiles?
    private var splicingStates: [String: SplicingState] = [:]

    /// - Parameters:
    ///   - adapter: chooses the quality of the session's segments; nil if the player does.
    ///   - files: the folder of the session files; nil if there is none.
    init(_ record: SessionRecord, adapter: Adapter?, files: SessionFiles?) {
        self.record = record
        self.adapter = adapter
        self.files = files
    }

    /// Returns the state of substitutions in a rendition. Segments are spliced from the first one on if substitutes are
    /// to be expected, since a URL keeps its form.
    /// - Parameter substitutes: the renditions that can substitute now, or may have substituted before a restart; nil
    ///   if there are none.
    func splicing(of rendition: Rendition, among substitutes: @autoclosure () -> SegmentSubstitutes?) -> SplicingState {
        let id = rendition.name.id
        if let known = splicingStates[id] {
            return known
        }

        let isKnown = record.isEntered || forms.isContinued
        let mayFollowSplice =
            if !isKnown || record.isOffline && !rendition.isComplete {
                substitutes()?.mayHaveSpliced ?? false
            } else {
                adapter != nil && !rendition.isComplete && substitutes() != nil
            }
        let made = SplicingState(of: id, forms, mayFollowSplice: mayFollowSplice)
        splicingStates[id] = made
        return made
    }
}
