/// What a view of a media playlist keeps.
public struct MediaPlaylistView: Sendable {
    /// Whether the tags of low latency stay; never in a playlist that has ended.
    public var keepsLowLatency: Bool
    /// Whether what is renamed keeps its byte range: false where each range has its own name.
    public var keepsByteRanges: Bool
    /// Whether EXT-X-ENDLIST and EXT-X-PLAYLIST-TYPE:VOD are there whatever the origin said, and nothing is that a
    /// finished presentation cannot give: gaps, interstitials without a name, an EXT-X-START that no longer fits.
    public var isFinished: Bool
    /// Whether EXT-X-VERSION says what is needed, and TIME-OFFSET comes first: libavformat reads it nowhere else, and
    /// Chromium refuses a version above 10.
    public var isMended: Bool
    /// Whether every new name must be relative, so that the folder can be moved.
    public var isRelative: Bool
    /// Whether segments that EXT-X-GAP marks as absent are left out, as they always are where `isFinished`.
    public var leavesOutGaps: Bool

    /// The playlist as it is: names alone change, and the ranges that have names of their own.
    public static let relay = Self(keepsLowLatency: true, isFinished: false, isMended: false)
    /// Plain HLS: without the tags of low latency, and mended.
    public static let plain = Self(keepsLowLatency: false, isFinished: false)
    /// What is stored, played offline: plain HLS that has ended.
    public static let stored = Self(keepsLowLatency: false, isFinished: true)
    /// A recording that grows: plain HLS without what could not be had.
    public static let growing = Self(keepsLowLatency: false, isFinished: false, leavesOutGaps: true)
    /// What is stored, on disk as part of a bundle: as `stored`, with relative names.
    public static let bundle = Self(keepsLowLatency: false, isFinished: true, isRelative: true)

    /// Any combination.
    public init(
        keepsLowLatency: Bool, keepsByteRanges: Bool = false, isFinished: Bool, isMended: Bool = true,
        isRelative: Bool = false, leavesOutGaps: Bool = false
    ) {
        self.keepsLowLatency = keepsLowLatency
        self.keepsByteRanges = keepsByteRanges
        self.isFinished = isFinished
        self.isMended = isMended
        self.isRelative = isRelative
        self.leavesOutGaps = leavesOutGaps || isFinished
    }

    /// A name that this view may have; `TextWriter` checks the rest.
    func checked(_ name: String) throws(PlaylistError) -> String {
        isRelative ? try TextWriter.checkedRelative(name) : name
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
        /// X-ASSET-URI of an EXT-X-DATERANGE. Without a name the attribute goes from a view that has ended, and with
        /// the last of both the line.
        case assetURI(DateRange)
        /// X-ASSET-LIST of an EXT-X-DATERANGE: as `assetURI`, for a list of presentations in JSON (`AssetList`).
        case assetList(DateRange)
    }

    /// Writes the playlist with other names.
    ///
    /// `naming` gives the new URI of a place, or nil to leave it as it is; it is called in the order of the text.
    /// Whatever has no new name, and is nothing that the view adds or takes away, comes out byte for byte. Throws
    /// `.unsafeName` for a name that could break out of its line, or that is not relative where the view wants it so,
    /// `.deltaUpdate` where the view needs what EXT-X-SKIP left out.
    ///
    /// - Parameter cut: what is left out beside what the view leaves out.
    public func rendered(
        _ view: MediaPlaylistView = .relay, cut: MediaPlaylistCut? = nil, naming: (Reference) -> String?
    ) throws(PlaylistError) -> [UInt8] {
        var view = view
        if hasEndList || view.isFinished { view.keepsLowLatency = false }
        if isDeltaUpdate, !view.keepsLowLatency {
            throw PlaylistError(.deltaUpdate, "a delta update cannot stand for the playlist")
        }
        var renderer = MediaPlaylistRenderer(storage: storage, view: view, selection: cut)
        return try renderer.run(naming)
    }
}
