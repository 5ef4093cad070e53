import EventLoop
import Fetching
import Library
import Playheads
import Store

/// Pieces that stay although the cache is over its limit.
extension PlayCache {
    /// True if a session plays an asset, or was given a playlist of it and is about to play.
    func isInUse(_ asset: Asset) -> Bool {
        library.playheads.isPlayed(asset.id) || !needs(of: asset).isEmpty
    }

    /// True if a piece must stay: for a session, or for other pieces that are of no use without it.
    ///
    /// Reads no folder, since that would change the queue during the turn: it adds unread folders to `unread`.
    func isNeeded(_ piece: Piece, _ needs: NeededTimes, of asset: Asset) -> Bool {
        guard let role = PieceName(piece.file)?.role else { return true }
        switch role {
        case .segment(let number):
            return needs.contains(asset.rendition(in: piece.folder)?.timeline?.span(of: number))
        case .initialization, .passing:
            return !needs.isEmpty || haveSegments([piece.folder])
        case .key, .data:
            return !needs.isEmpty || haveSegments((asset.renditions + asset.images).map(\.folder))
        }
    }

    /// True if any of the folders has segments, or is unread and may have some.
    private func haveSegments(_ folders: [PieceFolder]) -> Bool {
        let found = folders.map(\.hasSegments)
        if !found.contains(true) { unread += zip(folders, found).filter { $1 == nil }.map(\.0) }
        return found.contains { $0 ?? true }
    }

    /// The times of an asset that its sessions need, and those about to play it.
    func needs(of asset: Asset) -> NeededTimes {
        var needs = NeededTimes()
        for time in library.playheads.neededTimes(of: asset.id) { needs.add(around: time) }
        starting.addNeeds(of: asset.id, to: &needs, at: .now) { library.playheads.hasSession($0) }
        return needs
    }
}

extension Asset {
    /// The rendition whose pieces a folder has; nil for keys and session data.
    func rendition(in folder: PieceFolder) -> Rendition? {
        rendition(folder.id).flatMap { $0.folder === folder ? $0 : nil }
    }
}

extension Rendition {
    /// True if its pieces were recorded: no origin has them any more.
    var isOfRecording: Bool { recording != nil || source?.isRecorded ?? false }
}
