public import EventLoop

/// An asset that sessions play, as far as the tracker needs it.
@LoopActor public protocol PlayedAsset: AnyObject {
    /// Identifies the asset.
    var id: String { get }
    /// The length of the media in seconds; nil while that is unknown, and for live streams.
    var duration: Double? { get }
    /// True once the asset is deleted: another asset may have the same id then, and sessions that still play this one
    /// do not count for it.
    var isRemoved: Bool { get }

    /// The rendition with the pieces of a folder, and its media; nil for content without a playhead: keys, subtitles,
    /// images, trick play.
    func playedRendition(in folder: String) -> (rendition: any PlayedRendition, kind: MediaKind)?
}

/// A rendition that sessions play, as far as the tracker needs it.
@LoopActor public protocol PlayedRendition: AnyObject {
    /// Identifies the rendition within its asset.
    var id: String { get }

    /// The segment in a file; nil for an initialization section, and for a segment that the playlist does not list now.
    func span(ofFile file: String) -> SegmentSpan?
}

/// The media of a rendition as the playhead needs it. Subtitles do not move a playhead.
public enum MediaKind: Sendable {
    /// Video, with or without muxed audio, or the only audio.
    case main
    /// A separate audio rendition.
    case audio
}
