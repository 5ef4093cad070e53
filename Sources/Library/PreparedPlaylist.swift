import EventLoop
import Fetching
import HTTPMessage
import Playheads
import Playlist

/// The parts of a large playlist that has ended, by which it is used: computed on a worker, because they grow with the number
/// of segments.
struct PreparedPlaylist: Sendable {
    /// The segments' file names, by index.
    let fileNames: [String]
    let timeline: MediaTimeline
    /// The URLs of `MediaPlaylist.keys`; nil for those that cannot be fetched.
    let keyURLs: [WebURL?]

    init(_ source: Rendition.Source, content: PieceName.Content) {
        let playlist = source.playlist
        fileNames = playlist.segments.map { Rendition.name(of: $0, shift: source.shift, content: content).description }
        timeline = MediaTimeline(playlist)
        keyURLs = playlist.keys.map { $0.url(base: source.base) }
    }
}

extension Rendition.Source {
    /// Prepares it on a worker, if it is large and has ended.
    @LoopActor func prepared(as content: PieceName.Content, owner: AnyObject) async -> Rendition.Source {
        let size = playlist.text.write().count
        guard size > PureWork.small, isDurable, !isRecorded, preparations == nil else { return self }
        var source = self
        source.preparations = await PureWork.shared.run(size: size, for: owner) {
            PreparedPlaylist(self, content: content)
        }
        return source
    }
}
