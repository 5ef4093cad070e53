public import Playlist

/// The content that an order selects: one variant, and renditions of its groups. Pure.
public struct Selection: Equatable, Sendable {
    /// Rule for the variant.
    public enum Quality: Equatable, Sendable {
        /// The highest bandwidth.
        case best
        /// The lowest bandwidth.
        case worst
        /// Exactly this height in pixels; among several, the highest bandwidth.
        case height(Int)
        /// At most this height in pixels; the highest bandwidth. A variant without video matches any height.
        case heightAtMost(Int)
        /// The lowest bandwidth at or above this number of bits per second, otherwise the highest.
        case minimumBandwidth(Int)
    }

    /// Rule for the renditions of a group.
    public enum Choice: Equatable, Sendable {
        /// The rendition that players choose automatically: one in a preferred language, otherwise an AUTOSELECT one in
        /// the user's own language, otherwise DEFAULT, otherwise AUTOSELECT, otherwise the first.
        case `default`
        /// All renditions.
        case all
        /// No rendition.
        case none
        /// The renditions in these languages, in this order. RFC 5646 tags; `en` also matches `en-GB`.
        case languages([String])
    }

    /// Preferences between matching variants and renditions. They never make a selection match nothing.
    public struct Preferences: Equatable, Sendable {
        /// Minimum bits per second. The lowest variant that reaches it is chosen; if none does, the highest.
        public var minimumBitRate: Int?
        /// Minimum width in pixels; applied like `minimumBitRate`.
        public var minimumWidth: Int?
        /// Minimum height in pixels; applied like `minimumBitRate`.
        public var minimumHeight: Int?
        /// True to prefer a variant in HLG or PQ to one in SDR.
        public var prefersHDR = false
        /// True to prefer more than two channels. Stereo is stored too if the same video has it.
        public var prefersMultichannel = false
        /// Codec families such as `avc1`, the most preferred first. A variant with none of them comes last.
        public var codecs: [String] = []
        /// Languages for `Choice.default` as RFC 5646 tags, the most preferred first.
        public var languages: [String] = []
        /// The user's own language as an RFC 5646 tag, for `Choice.default` if none of `languages` is available.
        public var locale: String?
        /// True to prefer speed to quality: among matching variants the lowest average bit rate, and among equal
        /// renditions the fewest channels. Explicit preferences (HDR, multichannel, codecs, languages) come first.
        public var isFast = false

        /// Makes empty preferences.
        public init() {}
    }

    /// Rule for the variant; nil for the best, or for the lowest that reaches the minimums if there are any.
    public var quality: Quality?
    /// Rule for the audio renditions.
    public var audio: Choice
    /// Rule for the subtitle renditions.
    public var subtitles: Choice
    /// Preferences between matches.
    public var preferences: Preferences

    /// Makes a selection; by default the best variant with its default audio.
    public init(
        quality: Quality? = nil, audio: Choice = .default, subtitles: Choice = .none,
        preferences: Preferences = Preferences()
    ) {
        self.quality = quality
        self.audio = audio
        self.subtitles = subtitles
        self.preferences = preferences
    }

    /// No variant or rendition matches; the description names the request and the available ones.
    public struct NoMatch: Error, Equatable, Sendable, CustomStringConvertible {
        /// A sentence for a user.
        public let description: String
    }

    /// Returns the media playlists as indexes in `MultivariantPlaylist.renditionURIs`, the variant's first.
    public func renditions(of playlist: MultivariantPlaylist) throws(NoMatch) -> [Int] {
        let variant = try variant(of: playlist)
        var places = [variant.renditionIndex]
        for place in try media(of: variant, in: playlist).compactMap(\.renditionIndex) where !places.contains(place) {
            places.append(place)
        }
        return places
    }

    /// Returns the chosen variant. Variants without video count only if no variant has video.
    public func variant(of playlist: MultivariantPlaylist) throws(NoMatch) -> Variant {
        try VariantChoice(self, of: playlist).chosen
    }

    /// Audio, then subtitles, also those that are muxed into the variant.
    func media(of variant: Variant, in playlist: MultivariantPlaylist) throws(NoMatch) -> [Media] {
        try MediaChoice(self, of: .audio, for: variant, in: playlist).chosen
            + MediaChoice(self, of: .subtitles, for: variant, in: playlist).chosen
    }
}

extension Selection {
    /// Explains the choice of a selection.
    public struct Explanation: Equatable, Sendable {
        /// A variant that was not chosen.
        public struct Other: Equatable, Sendable {
            /// Its index in the playlist.
            public let variant: Int
            /// The rule that excluded it, as text after "it".
            public let reason: String
        }

        /// Index of the chosen variant.
        public let variant: Int
        /// Its advantage over the other matching variants, as text after "it has".
        public let reason: String
        /// All other variants, in the playlist's order.
        public let others: [Other]
        /// Indexes of the chosen EXT-X-MEDIA renditions, in the order of the request.
        public let media: [Int]
    }

    /// Returns the choice in a playlist with its reasons.
    public func explanation(of playlist: MultivariantPlaylist) throws(NoMatch) -> Explanation {
        let choice = try VariantChoice(self, of: playlist)
        let others = playlist.variants.compactMap { variant in
            choice.reasons[variant.index].map { Explanation.Other(variant: variant.index, reason: $0) }
        }
        return Explanation(
            variant: choice.chosen.index, reason: choice.reason, others: others,
            media: try media(of: choice.chosen, in: playlist).map(\.index))
    }
}
