public import Playlist

/// What a download is asked for: one variant, and renditions of its groups.
///
/// Pure: what it chooses depends on the playlist and on nothing else.
public struct Selection: Equatable, Sendable {
    /// Which variant.
    public enum Quality: Equatable, Sendable {
        /// The highest bandwidth.
        case best
        /// The lowest bandwidth.
        case worst
        /// Exactly so many pixels down; of several such, the highest bandwidth.
        case height(Int)
        /// At most so many pixels down; of several such, the highest bandwidth. Sound alone is within any height.
        case heightAtMost(Int)
        /// The lowest bandwidth at or above so many bits a second, else the highest.
        case minimumBandwidth(Int)
    }

    /// Which renditions of a group.
    public enum Choice: Equatable, Sendable {
        /// The one that players choose by themselves: in a preferred language, in the user's own if it is AUTOSELECT,
        /// else DEFAULT, else AUTOSELECT, else the first.
        case `default`
        /// Every one.
        case all
        /// None.
        case none
        /// Those in these languages (RFC 5646 tags; `en` also takes `en-GB`), in this order.
        case languages([String])
    }

    /// What is preferred where there is a choice. Nothing in here makes a selection match nothing.
    public struct Preferences: Equatable, Sendable {
        /// The variant is to have so many bits a second or more, and no more than that takes; else the highest is
        /// taken.
        public var minimumBitRate: Int?
        /// The picture is to be so many pixels across or more; as `minimumBitRate` is.
        public var minimumWidth: Int?
        /// The picture is to be so many pixels down or more; as `minimumBitRate` is.
        public var minimumHeight: Int?
        /// Whether a variant in HLG or PQ goes before one in SDR.
        public var prefersHDR = false
        /// Whether a variant with more than stereo goes before others; stereo is kept as well, where it goes with the
        /// same video.
        public var prefersMultichannel = false
        /// Families of codecs, the most wanted first, such as `avc1`; a variant with none of them goes behind all
        /// others.
        public var codecs: [String] = []
        /// Languages for `Choice.default`, the most wanted first, as RFC 5646 tags.
        public var languages: [String] = []
        /// The user's own language, as an RFC 5646 tag: for `Choice.default` where none of `languages` is there.
        public var locale: String?
        /// Fast before best: of all that meets what was asked for, the variant with the fewest bits a second on
        /// average, and of renditions that differ in nothing else, that with the fewest channels. What is preferred by
        /// name (HDR, multichannel, codecs, languages) was asked for, and goes before.
        public var isFast = false

        /// No preferences.
        public init() {}
    }

    /// Which variant; nil for the best, or the lowest that meets the minimums where there are any.
    public var quality: Quality?
    /// Which audio renditions.
    public var audio: Choice
    /// Which subtitle renditions.
    public var subtitles: Choice
    /// What is preferred.
    public var preferences: Preferences

    /// A selection; the best variant with its default audio unless told otherwise.
    public init(
        quality: Quality? = nil, audio: Choice = .default, subtitles: Choice = .none,
        preferences: Preferences = Preferences()
    ) {
        self.quality = quality
        self.audio = audio
        self.subtitles = subtitles
        self.preferences = preferences
    }

    /// Nothing fits: what was wanted, and what there is.
    public struct NoMatch: Error, Equatable, Sendable, CustomStringConvertible {
        /// A sentence for a user.
        public let description: String
    }

    /// The media playlists that the selection needs, as places in `MultivariantPlaylist.renditionURIs`, the variant's
    /// own first; each once.
    public func renditions(of playlist: MultivariantPlaylist) throws(NoMatch) -> [Int] {
        let variant = try variant(of: playlist)
        var places = [variant.renditionIndex]
        for place in try media(of: variant, in: playlist).compactMap(\.renditionIndex) where !places.contains(place) {
            places.append(place)
        }
        return places
    }

    /// The variant that is chosen. Variants without a picture count only where no variant has one.
    public func variant(of playlist: MultivariantPlaylist) throws(NoMatch) -> Variant {
        try VariantChoice(self, of: playlist).chosen
    }

    /// The EXT-X-MEDIA that go with the variant: audio, then subtitles. Those that are muxed into the variant are among
    /// them.
    func media(of variant: Variant, in playlist: MultivariantPlaylist) throws(NoMatch) -> [Media] {
        try MediaChoice(self, of: .audio, for: variant, in: playlist).chosen
            + MediaChoice(self, of: .subtitles, for: variant, in: playlist).chosen
    }
}
