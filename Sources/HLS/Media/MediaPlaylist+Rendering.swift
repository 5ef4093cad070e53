/// Options for a view of a media playlist.
public struct MediaPlaylistView: Equatable, Sendable {
    /// Keeps the low-latency tags. Ignored if the playlist has ended.
    var keepsLowLatency: Bool
    /// Keeps the byte range of renamed resources. False if each range has its own name.
    var keepsByteRanges = false
    /// Adds EXT-X-ENDLIST and EXT-X-PLAYLIST-TYPE:VOD, and omits what a finished presentation cannot provide: gaps,
    /// interstitials without a name, and an EXT-X-START that no longer fits.
    var isFinished: Bool
    /// Corrects EXT-X-VERSION (Chromium refuses versions above 10), and puts TIME-OFFSET first, for libavformat.
    var isCorrected = true
    /// Requires relative names, so that the folder can be moved.
    var isRelative = false
    /// Omits segments that EXT-X-GAP marks as missing, as a finished view does unless it keeps them.
    var omitsGaps = false
    /// Keeps missing segments in a finished view, for players that do not request them.
    public var keepsGaps = false
    /// Lists segments that EXT-X-GAP marks as missing like all others: something is served in their place.
    public var fillsGaps = false
    /// Adds EXT-X-PLAYLIST-TYPE:EVENT to a playlist without a type: libavformat seeks in no other that grows.
    public var isEvent = false
    /// Adds an EXT-X-START with which players begin with the first segment.
    public var startsAtBeginning = false
    /// The unchanged playlist, except for new names and the byte ranges that they replace.
    public static let relay = Self(keepsLowLatency: true, isFinished: false, isCorrected: false)
    /// Plain HLS: corrected, without low-latency tags.
    public static let plain = Self(keepsLowLatency: false, isFinished: false)
    /// The stored segments for offline playback: plain HLS with an end.
    public static let stored = Self(keepsLowLatency: false, isFinished: true)
    /// A growing recording: plain HLS without the gaps.
    public static let growing = Self(keepsLowLatency: false, isFinished: false, omitsGaps: true)
    /// The stored segments as part of a bundle on disk: as `stored`, with relative names.
    public static let bundle = Self(keepsLowLatency: false, isFinished: true, isRelative: true)

    /// Checks that the view accepts a name. `TextWriter` checks its characters.
    func checked(_ name: String) throws(PlaylistError) -> String {
        guard isRelative else { return name }
        return try TextWriter.checkedRelative(name)
    }
}

extension MediaPlaylist {
    /// A reference that a view may rename.
    public enum Reference: Sendable {
        case segment(Segment)
        /// Every EXT-X-MAP; `index` is equal for equal sections.
        case map(Map)
        /// Every EXT-X-KEY except METHOD=NONE. Keys that are not `isFetchable` should keep their URI.
        case key(Key)
        /// Every EXT-X-PART, if the view keeps the low-latency tags; likewise the next two cases.
        case part(PartialSegment)
        case preloadHint(PreloadHint)
        case renditionReport(RenditionReport)
        /// X-ASSET-URI of an EXT-X-DATERANGE. A finished view omits it if unnamed, and the line if X-ASSET-LIST is too.
        case assetURI(DateRange)
        /// X-ASSET-LIST of an EXT-X-DATERANGE: as `assetURI`, for a JSON list of presentations (`AssetList`).
        case assetList(DateRange)
    }

    /// Returns the new URI of a reference, or nil to keep it.
    public typealias Naming = (Reference) -> String?

    /// Writes the playlist with new names.
    ///
    /// `naming` is called in text order. Everything that neither it nor the view changes is copied byte for byte. `cut` omits
    /// more segments, and those at the indexes `gaps` get EXT-X-GAP. A view without low-latency tags lists a delta update's
    /// segments alone, with their numbers. Throws `.unsafeName` for a name that would break out of its line, or is not relative as
    /// the view requires.
    public func rendered(
        _ view: MediaPlaylistView = .relay, cut: MediaPlaylistCut? = nil, gaps: Set<Int> = [], naming: Naming
    ) throws(PlaylistError) -> [UInt8] {
        var view = view
        if hasEndList || view.isFinished {
            view.keepsLowLatency = false
        }
        var renderer = MediaPlaylistRenderer(storage: storage, view: view, selection: cut)
        renderer.gaps = gaps
        return try renderer.run(naming)
    }
}

/// Selects segments that a view omits although the playlist lists them, because they are not stored.
///
/// Timestamps jump where a segment between others is omitted, and RFC 8216 §4.3.2.3 requires EXT-X-DISCONTINUITY there. Players
/// treat the tag differently by container (measured: ffmpeg 5.1.9, mpv 0.35.1, VLC 3.0.24, Chromium 156). In transport streams
/// all play on with the tag; without it Chromium stops at the jump. In fragmented MP4 all play on without the tag, because
/// fragments contain their decode time (ISO/IEC 14496-12 §8.8.12); with it VLC stops. `isMarked` selects the behaviour. It must
/// be equal for all renditions of a presentation, or their Discontinuity Sequence Numbers would differ.
public struct MediaPlaylistCut: Equatable, Sendable {
    /// True for each segment to keep, by its index. Segments beyond the end are omitted.
    let stays: [Bool]
    /// Writes EXT-X-DISCONTINUITY after omitted segments that were between others.
    let isMarked: Bool
    /// The effect on the numbers of a playlist that is loaded again and again; nil for any other, whose numbers just begin anew.
    let numbers: LiveNumbers?

    /// The effect of omitted segments on the sequence numbers of a live playlist; see `LiveOmissions`.
    struct LiveNumbers: Equatable, Sendable {
        /// The omitted segments that have left the window: media sequence numbers are lower by so many.
        let omitted: Int
        /// The added discontinuities that have left the window: discontinuity sequence numbers are higher by so many.
        let discontinuities: Int
        /// The indexes of segments that an added discontinuity precedes.
        let marked: Set<Int>
    }

    /// Creates a cut for one playlist.
    public init(stays: [Bool], isMarked: Bool) { self.init(stays: stays, isMarked: isMarked, numbers: nil) }

    init(stays: [Bool], isMarked: Bool, numbers: LiveNumbers?) {
        self.stays = stays
        self.isMarked = isMarked
        self.numbers = numbers
    }

    /// True if it leaves no segment.
    public var isEmpty: Bool { !stays.contains(true) }

    func omits(_ index: Int) -> Bool { index >= stays.count || !stays[index] }
}
