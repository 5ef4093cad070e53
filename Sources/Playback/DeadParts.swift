import Assets
import EventLoop
import Fetching
import HLS
import Origin
import Playheads
import Substitution

/// The parts of an asset that only dead hosts have, and that nothing stored can replace.
struct DeadParts {
    /// Places in `Asset.renditions`.
    var renditions: Set<Int> = []
    /// For an asset with a lone media playlist.
    var cut: MediaPlaylistCut?
}

extension PlayerRoutes {
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
        guard isSomethingLeft else { return DeadParts() }
        return DeadParts(renditions: dead)
    }

    /// Returns the playlist that a player gets, with the segments that it leaves out. A live playlist of which no segment is left
    /// stays as it was shown before, so that the player waits for what follows.
    func shown(
        _ source: Rendition.Source, of rendition: Rendition, in asset: Asset, _ session: Session
    ) async throws(LibraryError) -> (source: Rendition.Source, cut: MediaPlaylistCut?) {
        if source.isDurable {
            return (source, try await deadCut(of: rendition, in: asset, session))
        }
        let cut = await library.liveCut(of: rendition, source, in: asset)
        guard cut?.isEmpty ?? false else {
            rendition.makeLive().shown = (source, cut)
            return (source, cut)
        }
        guard let shown = rendition.live?.shown, .now - shown.source.born < GiveUpRule.omissionLimit else {
            throw Self.deadHosts(of: rendition, in: asset)
        }
        return shown
    }

    private static func deadHosts(of rendition: Rendition, in asset: Asset) -> LibraryError {
        LibraryError(
            .hostDead,
            "\(rendition.name.id) of \(asset.name): the hosts of its segments cannot be reached, although others answer"
        )
    }

    /// Finds the segments that a playlist leaves out, because nothing can stand in for them; nil if there are none.
    func deadCut(
        of rendition: Rendition, in asset: Asset, _ session: Session
    ) async throws(LibraryError) -> MediaPlaylistCut? {
        // A player that has seen the broadcast knows its numbers.
        if let source = rendition.source, source.isDurable, let live = rendition.live, !live.omissions.isEmpty,
            library.playheads.isPlaying(session.id, asset.id)
        {
            return await library.liveCut(of: rendition, source, in: asset)
        }
        guard session.mode != .offline, let playlist = rendition.source?.playlist,
            var dead = await library.deadSegments(of: rendition, in: asset), asset.content.has(rendition)
        else { return nil }
        var slice = LoopSlice()
        await substitutions.substitutes(of: rendition, in: asset)?.cover(&dead, &slice)
        if dead.contains(true) {
            await coverByStandIns(&dead, of: rendition, in: asset)
        }
        // The playlist may have been replaced meanwhile.
        guard dead.contains(true), dead.count == playlist.segments.count,
            rendition.source?.playlist == playlist
        else { return nil }
        guard dead.contains(false) else { throw Self.deadHosts(of: rendition, in: asset) }
        return MediaPlaylistCut(stays: dead.map { !$0 }, isMarked: playlist.maps.isEmpty)
    }
}
