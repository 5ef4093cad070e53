import EventLoop
import Fetching
import Playheads
import Store

/// What must stay although the limit asks for its room.
extension PlayCache {
    /// Whether a session plays an asset, or was given a playlist of it and is about to.
    func isInUse(_ asset: Asset, _ playheads: PlayheadTracker) -> Bool {
        playheads.isPlayed(asset.id) || !needs(of: asset, playheads).isEmpty
    }

    /// Whether a piece must stay: for a session, or for other pieces that are of no use without it.
    ///
    /// Reads no folder, since that would change the queue that is being looked at: it takes note of those to be read.
    func isNeeded(_ piece: Piece, _ needs: NeedWindows, of asset: Asset) -> Bool {
        guard let role = PieceName(piece.file)?.role else { return true }
        switch role {
        case .segment(let number):
            return needs.hold(asset.rendition(in: piece.folder)?.timeline?.span(of: number))
        case .initialization, .passing:
            return !needs.isEmpty || haveSegments([piece.folder])
        case .key, .data:
            return !needs.isEmpty || haveSegments((asset.renditions + asset.images).map(\.folder))
        }
    }

    /// Whether segments are in any of the folders, or may be.
    private func haveSegments(_ folders: [PieceFolder]) -> Bool {
        let found = folders.map(\.hasSegments)
        if !found.contains(true) { unread += zip(folders, found).filter { $1 == nil }.map(\.0) }
        return found.contains { $0 ?? true }
    }

    /// What sessions need of an asset, and those that are about to play it.
    func needs(of asset: Asset, _ playheads: PlayheadTracker) -> NeedWindows {
        var needs = NeedWindows()
        for time in playheads.neededTimes(of: asset.id) { needs.add(around: time) }
        arrivals.addNeeds(of: asset.id, to: &needs, at: .now) { playheads.hasSession($0) }
        return needs
    }
}

extension Asset {
    /// The rendition whose pieces lie in a folder; nil for keys and session data.
    func rendition(in folder: PieceFolder) -> Rendition? {
        rendition(folder.id).flatMap { $0.folder === folder ? $0 : nil }
    }
}

extension Rendition {
    /// Whether its pieces cannot be had again: they are what was recorded.
    var isOfRecording: Bool { recording != nil || source?.isRecorded ?? false }

    /// When a segment plays; nil where that is not known, or for what is no segment.
    func span(of name: PieceName) -> SegmentSpan? {
        if case .segment(let number) = name.role { timeline?.span(of: number) } else { nil }
    }
}
