extension Selection {
    /// Preferences for choices that a selection leaves open. Every key is optional.
    package struct Preferences: Codable, Equatable, Sendable {
        /// Chooses the lowest variant with at least this many bits per second, else the highest variant.
        package var minimumBitRate: Int?
        /// Chooses the lowest variant of at least this size, else the highest variant.
        package var minimumSize: Size?
        /// True if HLG and PQ variants rank before SDR.
        package var prefersHDR: Bool?
        /// True if variants with more than stereo rank before others. Stereo is then stored as well.
        package var prefersMultichannel: Bool?
        /// Codec families, most preferred first: `avc1`, `hvc1`.
        package var codecs: [String]?
        /// Languages for a `Choice` of `default` as RFC 5646 tags, most preferred first.
        package var languages: [String]?
        /// The user's language as an RFC 5646 tag, used if none of `languages` is available.
        package var locale: String?
        /// True to prefer speed over quality: chooses the fewest bytes that meet the request.
        package var isFast: Bool?
        /// True to store the interstitials that the playlists name as well.
        package var keepsInterstitials: Bool?
        /// True to store a playlist of I-frames as well, for trick play.
        package var keepsTrickPlay: Bool?
        package init() {}
    }
}
