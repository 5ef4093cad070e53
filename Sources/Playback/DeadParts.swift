import EventLoop
import Fetching
import Library
import Playlist
import Substitution

/// The parts of an asset that only dead hosts have, and that nothing stored can replace.
struct DeadParts {
    /// Places in `Asset.renditions`.
    var renditions: Set<Int> = []
    /// For an asset with a lone media playlist.
    var cut: MediaPlaylistCut?
}

extension Playback {
    /// Finds the parts that an entry playlist leaves out. What a player is never told of cannot end it: an error for a segment ends
    /// VLC and Chromium's own player, and others try it again and again.
    func deadParts(of asset: Asset, _ session: Session) async throws(LibraryError) -> DeadParts {
        guard asset.multivariant != nil else {
            guard let lone = asset.renditions.first else { return DeadParts() }
            return DeadParts(cut: try await deadCut(of: lone, in: asset, session))
        }
        let dead = await library.deadRenditions(of: asset)
        // An entry without any variant says less than the error of each.
        let isSomethingLeft = asset.multivariant?.variants.contains { !dead.contains($0.renditionIndex) } ?? false
        return DeadParts(renditions: isSomethingLeft ? dead : [])
    }

    /// Finds the segments that a playlist leaves out; nil if there are none. A player whose quality Weir chooses may get them in
    /// another one.
    func deadCut(
        of rendition: Rendition, in asset: Asset, _ session: Session
    ) async throws(LibraryError) -> MediaPlaylistCut? {
        guard session.mode != .offline, session.mode != .adaptive, let playlist = rendition.source?.playlist,
            var dead = await library.deadSegments(of: rendition, in: asset), asset.has(rendition),
            dead.count == rendition.source?.playlist.segments.count
        else { return nil }
        var slice = LoopSlice()
        await substitutions.substitutes(of: rendition, in: asset)?.cover(&dead, &slice)
        guard dead.contains(true) else { return nil }
        guard dead.contains(false) else {
            let subject = "\(rendition.name.id) of \(asset.name)"
            throw LibraryError(
                .hostDead, "\(subject): the hosts of its segments cannot be reached, although others answer")
        }
        return MediaPlaylistCut(stays: dead.map { !$0 }, isMarked: playlist.maps.isEmpty)
    }
}
