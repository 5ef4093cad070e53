import Assets
import EventLoop
import Fetching
import Playheads
import Sessions
import Substitution

/// A folder of pieces as a session's URLs name it. One object holds everything that serving its pieces needs.
@LoopActor final class SessionFolder {
    let asset: Asset
    let session: Session
    let folder: PieceFolder
    /// Reports requests to the playhead tracker; nil for content without a playhead.
    let cursor: RenditionCursor?
    /// The state that the session's earlier answers have left.
    let served: ServedSession
    var record: SessionRecord { served.record }
    /// The substitutions that the session has received in the rendition; nil if there can be none: the folder is not a
    /// rendition's, or the asset has only one.
    let splicing: SplicingState?
    /// The rendition of the splicing.
    let rendition: Rendition?
    let substitutions: Substitutions
    /// True if the files are keys, which may expire.
    let holdsKeys: Bool

    init(
        asset: Asset, session: Session, folder: PieceFolder, cursor: RenditionCursor?, served: ServedSession,
        _ substitutions: Substitutions
    ) {
        self.asset = asset
        self.session = session
        self.folder = folder
        self.cursor = cursor
        self.served = served
        self.substitutions = substitutions
        holdsKeys = folder === asset.keys.folder
        // The only rendition has no others whose pieces could be its substitutes.
        if asset.renditions.count > 1 {
            rendition = asset.rendition(folder.id)
        } else {
            rendition = nil
        }
        splicing = rendition.map { rendition in
            served.splicing(of: rendition, among: substitutions.substitutes(of: rendition, in: asset))
        }
    }
}
