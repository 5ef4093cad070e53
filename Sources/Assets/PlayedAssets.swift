import EventLoop
import Fetching
import HLS
import Origin
public import Playheads

extension Asset: PlayedAsset {
    /// Returns the rendition that owns a folder, and its kind of media for the playhead.
    public func playedRendition(in folder: String) -> (rendition: any PlayedRendition, kind: MediaKind)? {
        // An interstitial has a timeline of its own, which is no position in the film.
        guard let rendition = rendition(folder), content.has(rendition), rendition.name.content == .media,
            !rendition.name.isIFramesOnly
        else { return nil }
        let media = multivariant?.media ?? []
        let isAudio = media.contains { $0.renditionIndex == rendition.index && $0.type == .audio }
        return (rendition, isAudio ? .audio : .main)
    }
}

extension Rendition: PlayedRendition {
    /// Identifies the rendition within its asset.
    public var id: String { name.id }
    /// True if a key of the playlist applies to a segment.
    public var isEncrypted: Bool {
        guard let playlist = source?.playlist else { return false }
        return !playlist.usedKeys.isEmpty
    }

    /// The segment in a file; nil for an initialization section, and for a segment that the playlist no longer lists.
    public func span(ofFile file: String) -> SegmentSpan? {
        guard let name = PieceName(file) else { return nil }
        return span(of: name)
    }
}
