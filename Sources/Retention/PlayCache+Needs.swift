import EventLoop
import Fetching
import Library
import Playheads
import Store

/// Decides which pieces stay even if the cache exceeds its limit.
extension PlayCache {
    /// True if a session plays the asset, or received a playlist of it and is about to play.
    func isInUse(_ asset: Asset) -> Bool {
        library.playheads.isPlayed(asset.id) || !needs(of: asset).isEmpty
    }

    /// True if a piece must stay: for a session, or for other pieces that need it.
    ///
    /// Reads no folder, because that would change the queue during the turn; adds unread folders to `unread`.
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

    /// The media times that running and starting sessions of an asset need.
    func needs(of asset: Asset) -> NeededTimes {
        var needs = NeededTimes()
        for time in library.playheads.neededTimes(of: asset.id) { needs.add(around: time) }
        starting.addNeeds(of: asset.id, to: &needs, at: .now) { library.playheads.hasSession($0) }
        return needs
    }
}

extension Asset {
    /// The rendition of a folder; nil for keys and session data.
    func rendition(in folder: PieceFolder) -> Rendition? {
        rendition(folder.id).flatMap { $0.folder === folder ? $0 : nil }
    }
}

extension Rendition {
    /// True if the asset is a recording, whose pieces no origin has any more.
    var isOfRecording: Bool { recording != nil || source?.isRecorded ?? false }
}
