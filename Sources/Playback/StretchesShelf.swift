import Assets
import EventLoop
import HLS
import Substitution

/// Remembers the playable ranges of partly stored assets for the sessions that play them. All playlists of a session
/// must be cut alike, but more pieces may be stored between one playlist request and the next. A forgotten session gets
/// the current ranges, which are equal if nothing was stored meanwhile.
@LoopActor struct StretchesShelf {
    private var known: [(session: String, stretches: PlayableRanges)] = []
    private static let limit = 32

    mutating func insert(_ stretches: PlayableRanges, for session: Session) {
        if known.count >= Self.limit {
            known.removeFirst()
        }
        known.append((session.id, stretches))
    }

    /// The cut that a session's entry had for a rendition.
    private func knownCut(of rendition: Rendition, _ session: Session) -> MediaPlaylistCut? {
        known.last { $0.session == session.id }?.stretches.cuts[rendition.index]
    }

    /// Returns the cut for a rendition's playlist; nil if no cut applies, or if too little of it is stored. A rendition
    /// that no entry lists is cut on its own.
    func cut(
        of rendition: Rendition, in asset: Asset, _ session: Session, _ substitutions: Substitutions
    ) async -> MediaPlaylistCut? {
        if let cut = knownCut(of: rendition, session) {
            return cut
        }
        if !asset.isPlayableOffline, let stored = await substitutions.playableRanges(of: asset), stored.isPlayable,
            let cut = stored.cuts[rendition.index]
        {
            return cut
        }
        guard !rendition.isComplete, let alone = await substitutions.playableRanges(of: rendition, in: asset),
            alone.isPlayable
        else { return nil }
        return alone.cuts[rendition.index]
    }
}
