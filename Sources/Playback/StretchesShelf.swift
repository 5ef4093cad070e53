import EventLoop
import Library
import Playlist
import Substitution

/// Remembers the playable ranges of partly stored assets for the sessions that play them.
///
/// All playlists of a session must be cut alike, but more pieces may be stored between one playlist request and the
/// next. A forgotten session gets the current ranges, which are equal if nothing was stored meanwhile.
@LoopActor struct StretchesShelf {
    private var known: [(session: String, stretches: PlayableRanges)] = []
    private static let limit = 32

    /// Records the ranges of a session; drops the oldest session if the list is full.
    mutating func keep(_ stretches: PlayableRanges, for session: Session) {
        if known.count >= Self.limit { known.removeFirst() }
        known.append((session.id, stretches))
    }

    /// Returns the cut for a rendition's playlist. nil if the rendition is complete and no cut applies, and if too
    /// little of it is stored.
    ///
    /// A rendition that no entry lists is cut on its own.
    func cut(
        of rendition: Rendition, in asset: Asset, _ session: Session, _ substitutions: Substitutions
    ) -> MediaPlaylistCut? {
        if let noted = known.last(where: { $0.session == session.id })?.stretches.cuts[rendition.place] { return noted }
        if !asset.isPlayableOffline, let stored = substitutions.playableRanges(of: asset), stored.isPlayable,
            let cut = stored.cuts[rendition.place]
        {
            return cut
        }
        guard !rendition.isWhole, let alone = substitutions.playableRanges(of: rendition, in: asset), alone.isPlayable
        else { return nil }
        return alone.cuts[rendition.place]
    }
}
