/// What a view of a media playlist keeps.
public struct MediaPlaylistView: Sendable {
    /// Whether the tags of low latency stay; never in a playlist that has ended.
    public var keepsLowLatency: Bool
    /// Whether what is renamed keeps its byte range: false where each range has its own name.
    public var keepsByteRanges: Bool
    /// Whether EXT-X-ENDLIST and EXT-X-PLAYLIST-TYPE:VOD are there whatever the origin said.
    public var isFinished: Bool

    /// The playlist as it is: names alone change, and the ranges that have names of their own.
    public static let relay = Self(keepsLowLatency: true, keepsByteRanges: false, isFinished: false)
    /// Plain HLS: as `relay`, without the tags of low latency.
    public static let plain = Self(keepsLowLatency: false, keepsByteRanges: false, isFinished: false)
    /// What is stored: plain HLS that has ended.
    ///
    /// Played offline, and on disk as part of a bundle.
    public static let stored = Self(keepsLowLatency: false, keepsByteRanges: false, isFinished: true)

    /// Any combination.
    public init(keepsLowLatency: Bool, keepsByteRanges: Bool, isFinished: Bool) {
        self.keepsLowLatency = keepsLowLatency
        self.keepsByteRanges = keepsByteRanges
        self.isFinished = isFinished
    }
}

extension MediaPlaylist {
    /// A place where a view may put another name.
    public enum Reference: Sendable {
        case segment(Segment)
        /// Called for every EXT-X-MAP; its `index` is the same for the same section.
        case map(Map)
        /// Called for every EXT-X-KEY but METHOD=NONE; a key that is not `isFetchable` is best left alone.
        case key(Key)
        /// Called for every EXT-X-PART, where the view keeps the tags of low latency; so are the next two.
        case part(PartialSegment)
        case preloadHint(PreloadHint)
        case renditionReport(RenditionReport)
    }

    /// Writes the playlist with other names.
    ///
    /// `naming` gives the new URI of a place, or nil to leave it as it is; it is called in the order of the text. Whatever
    /// has no new name, and is nothing that the view adds or takes away, comes out byte for byte. Throws `.unsafeName` for
    /// a name that could break out of its line, `.deltaUpdate` where the view needs what EXT-X-SKIP left out.
    public func rendered(
        _ view: MediaPlaylistView = .relay, naming: (Reference) -> String?
    ) throws(PlaylistError) -> [UInt8] {
        var view = view
        if hasEndList || view.isFinished { view.keepsLowLatency = false }
        if isDeltaUpdate, !view.keepsLowLatency {
            throw PlaylistError(.deltaUpdate, "a delta update cannot stand for the playlist")
        }
        var renderer = MediaPlaylistRenderer(storage: storage, view: view)
        return try renderer.run(naming)
    }
}
