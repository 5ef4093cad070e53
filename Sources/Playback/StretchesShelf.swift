import EventLoop
import Library
import Playlist

/// How the renditions of assets that are stored in part are cut, for the sessions that play them.
///
/// All playlists of a session must be cut alike, and what is stored may grow while a player loads one after the other.
/// A session that is not known any more gets what is there now, which is the same where nothing has come since.
@LoopActor struct StretchesShelf {
    private var known: [(session: String, stretches: StoredStretches)] = []
    private static let limit = 32

    /// Notes how a session plays; the oldest one makes way.
    mutating func keep(_ stretches: StoredStretches, for session: Session) {
        if known.count >= Self.limit { known.removeFirst() }
        known.append((session.id, stretches))
    }

    /// How a rendition's playlist is cut; nil where it is whole and nothing is cut with it, and where too little is
    /// there.
    ///
    /// Where no entry lists it, it is cut by itself alone.
    func cut(of rendition: Rendition, in asset: Asset, _ session: Session) -> MediaPlaylistCut? {
        if let noted = known.last(where: { $0.session == session.id })?.stretches.cuts[rendition.place] { return noted }
        if !asset.isPlayableOffline, let stored = asset.storedStretches, stored.isPlayable,
            let cut = stored.cuts[rendition.place]
        {
            return cut
        }
        guard !rendition.isWhole, let alone = asset.storedStretches(of: rendition), alone.isPlayable else {
            return nil
        }
        return alone.cuts[rendition.place]
    }
}
