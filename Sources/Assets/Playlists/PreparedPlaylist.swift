import EventLoop
package import Fetching
import HLS
import HTTPMessage
import Playheads

/// The parts of a large playlist by which it is used: computed on a worker, because they grow with the number of segments.
struct PreparedPlaylist: Sendable {
    /// The segments' file names, by index; none unless the playlist has ended.
    let fileNames: [String]
    let timeline: MediaTimeline
    /// None of a playlist that has not ended.
    let locations: SegmentLocations?
    /// The URLs of `MediaPlaylist.keys`; nil for those that cannot be fetched.
    let keyURLs: [WebURL?]
    /// The URLs of a live playlist's `maps`, `parts` and `preloadHints`; nil for those that are none.
    let maps, parts, hints: [WebURL?]
    let hosts: MediaHosts

    init(_ source: Rendition.Source, content: PieceName.Content) {
        let playlist = source.playlist
        let base = source.base
        timeline = MediaTimeline(playlist)
        locations = source.isDurable ? SegmentLocations(playlist) : nil
        keyURLs = playlist.keys.map { $0.url(base: base) }
        hosts = MediaHosts(source)
        if source.isDurable {
            let names = Rendition.SegmentNames(shift: source.shift, content: content)
            fileNames = playlist.segments.map { names.file(of: $0) }
            maps = []
            parts = []
            hints = []
        } else {
            fileNames = []
            maps = playlist.maps.map { try? base.resolving($0.uri) }
            parts = playlist.parts.map { try? base.resolving($0.uri) }
            hints = playlist.preloadHints.map { try? base.resolving($0.uri) }
        }
    }
}

extension Rendition.Source {
    /// The size of the work, see `PureWork.small`: above that for each playlist of which not all is computed on the loop.
    var preparationSize: Int {
        let ofSegments = playlist.segments.count * PureWork.small / Rendition.mostLocatedOnLoop
        return max(playlist.text.write().count, ofSegments)
    }

    /// Prepares it on a worker, if it is large.
    @LoopActor func prepared(as content: PieceName.Content, owner: AnyObject) async -> Rendition.Source {
        let size = preparationSize
        guard size > PureWork.small, !isRecorded, preparations == nil else { return self }
        var source = self
        source.preparations = await PureWork.shared.run(size: size, for: owner) {
            PreparedPlaylist(self, content: content)
        }
        return source
    }

    /// Prepares the playlist of a file that the user hands in, on the lane for such files. Nil once nobody waits any more.
    package func prepared(as content: PieceName.Content) async -> Rendition.Source? {
        await FileLane.shared.run { _ in
            var source = self
            source.preparations = PreparedPlaylist(self, content: content)
            return source
        }
    }
}
