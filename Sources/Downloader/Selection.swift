package import Playlist

/// The content that an order selects: one variant, and renditions of its groups. Pure.
package struct Selection: Equatable, Sendable {
    /// Rule for the variant.
    package enum Quality: Equatable, Sendable {
        case best
        case worst
        /// Exactly this height in pixels; among several, the highest bandwidth.
        case height(Int)
        /// At most this height in pixels; the highest bandwidth. A variant without video matches any height.
        case heightAtMost(Int)
        /// The lowest bandwidth at or above this number of bits per second, otherwise the highest.
        case minimumBandwidth(Int)
    }

    /// Rule for the renditions of a group.
    package enum Choice: Equatable, Sendable {
        /// The rendition that players choose automatically: one in a preferred language, otherwise an AUTOSELECT one in
        /// the user's own language, otherwise DEFAULT, otherwise AUTOSELECT, otherwise the first.
        case `default`
        /// Of subtitles, those that players show unasked: DEFAULT=YES, and FORCED in the user's language.
        case auto
        case all
        case none
        /// The renditions in these languages, in this order. RFC 5646 tags; `en` also matches `en-GB`.
        case languages([String])
    }

    /// Preferences between matching variants and renditions. They never make a selection match nothing.
    package struct Preferences: Equatable, Sendable {
        /// Minimum bits per second. The lowest variant that reaches it is chosen; if none does, the highest.
        package var minimumBitRate: Int?
        /// Minimum width in pixels; applied like `minimumBitRate`.
        package var minimumWidth: Int?
        /// Minimum height in pixels; applied like `minimumBitRate`.
        package var minimumHeight: Int?
        /// True to prefer a variant in HLG or PQ to one in SDR.
        package var prefersHDR = false
        /// True to prefer more than two channels. Stereo is stored too if the same video has it.
        package var prefersMultichannel = false
        /// Codec families such as `avc1`, the most preferred first. A variant with none of them comes last.
        package var codecs: [String] = []
        /// Languages for `Choice.default` as RFC 5646 tags, the most preferred first.
        package var languages: [String] = []
        /// The user's own language as an RFC 5646 tag, for `Choice.default` if none of `languages` is available.
        package var locale: String?
        /// True to prefer speed to quality: among matching variants the lowest average bit rate, and among equal
        /// renditions the fewest channels. Explicit preferences (HDR, multichannel, codecs, languages) come first.
        package var isFast = false
        /// True to store the interstitials that the playlists name as well.
        package var keepsInterstitials = false
        /// True to store the playlist of I-frames that fits the variant as well, for trick play.
        package var keepsTrickPlay = false

        package init() {}
    }

    /// Rule for the variant; nil for the best, or for the lowest that reaches the minimums if there are any.
    package var quality: Quality?
    package var audio: Choice
    package var subtitles: Choice
    package var preferences: Preferences
    /// Conditions that the variant must meet, all of them.
    package var requirements: [VariantPredicate]

    /// Makes a selection; by default the best variant with its default audio.
    package init(
        quality: Quality? = nil, audio: Choice = .default, subtitles: Choice = .none,
        preferences: Preferences = Preferences(), requirements: [VariantPredicate] = []
    ) {
        (self.quality, self.audio, self.subtitles) = (quality, audio, subtitles)
        (self.preferences, self.requirements) = (preferences, requirements)
    }

    /// No variant or rendition matches; the description names the request and the available ones.
    package struct NoMatch: Error, Equatable, Sendable, CustomStringConvertible {
        package let description: String
    }

    /// Returns the media playlists as indexes in `MultivariantPlaylist.renditionURIs`, the variant's first.
    /// - Parameter excluded: the variants that cannot be had, as such indexes.
    package func renditions(
        of playlist: MultivariantPlaylist, without excluded: Set<Int> = []
    ) throws(NoMatch) -> [Int] {
        let variant = try VariantChoice(self, of: playlist, without: excluded).chosen
        var places = [variant.renditionIndex]
        for place in try media(of: variant, in: playlist).compactMap(\.renditionIndex) where !places.contains(place) {
            places.append(place)
        }
        if preferences.keepsTrickPlay, let frames = playlist.iFrames(for: variant), !places.contains(frames) {
            places.append(frames)
        }
        return places
    }

    /// Returns the chosen variant. Variants without video count only if no variant has video.
    package func variant(of playlist: MultivariantPlaylist) throws(NoMatch) -> Variant {
        try VariantChoice(self, of: playlist).chosen
    }

    /// Audio, then subtitles, also those that are muxed into the variant.
    func media(of variant: Variant, in playlist: MultivariantPlaylist) throws(NoMatch) -> [Media] {
        try MediaChoice(self, of: .audio, for: variant, in: playlist).chosen
            + MediaChoice(self, of: .subtitles, for: variant, in: playlist).chosen
    }
}

extension MultivariantPlaylist {
    /// The playlist of I-frames for trick play beside a variant, as an index in `renditionURIs`: the largest that is not larger
    /// than the variant's picture, else the smallest; of equal ones that with the highest bit rate. Nil if there is none.
    func iFrames(for variant: Variant) -> Int? {
        func height(_ size: Resolution?) -> Int { size?.height ?? 0 }
        let sorted = iFrameVariants.sorted {
            (height($0.resolution), $0.bandwidth) < (height($1.resolution), $1.bandwidth)
        }
        let limit = variant.resolution?.height ?? .max
        let smallest = sorted.first.map { height($0.resolution) }
        let fitting =
            sorted.last { height($0.resolution) <= limit } ?? sorted.last { height($0.resolution) == smallest }
        return fitting?.renditionIndex
    }
}

extension Selection {
    /// Explains the choice of a selection.
    package struct Explanation: Equatable, Sendable {
        /// A variant that was not chosen.
        package struct Other: Equatable, Sendable {
            /// Its index in the playlist.
            package let variant: Int
            /// The rule that excluded it, as text after "it".
            package let reason: String
        }

        /// Index of the chosen variant.
        package let variant: Int
        /// Its advantage over the other matching variants, as text after "it has".
        package let reason: String
        /// All other variants, in the playlist's order.
        package let others: [Other]
        /// Indexes of the chosen EXT-X-MEDIA renditions, in the order of the request.
        package let media: [Int]
    }

    /// Returns the choice in a playlist with its reasons.
    package func explanation(of playlist: MultivariantPlaylist) throws(NoMatch) -> Explanation {
        let choice = try VariantChoice(self, of: playlist)
        let others = playlist.variants.compactMap { variant in
            choice.reasons[variant.index].map { Explanation.Other(variant: variant.index, reason: $0) }
        }
        return Explanation(
            variant: choice.chosen.index, reason: choice.reason, others: others,
            media: try media(of: choice.chosen, in: playlist).map(\.index))
    }
}
