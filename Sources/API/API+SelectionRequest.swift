extension API {
    /// One selection: a variant, with renditions. `DownloadRequest` has the keys of one, and further ones in
    /// `additional`.
    public struct SelectionRequest: Codable, Equatable, Sendable {
        /// Which variant; absent for the best, or the lowest that meets the minimums of `preferences` where there are
        /// any.
        public var quality: Quality?
        /// Which audio renditions.
        public var audio: Choice
        /// Which subtitle renditions.
        public var subtitles: Choice
        /// What is preferred.
        public var preferences: Preferences?

        /// The best variant with its default audio, unless something else is given.
        public init(
            quality: Quality? = nil, audio: Choice = .default, subtitles: Choice = .none,
            preferences: Preferences? = nil
        ) {
            self.quality = quality
            self.audio = audio
            self.subtitles = subtitles
            self.preferences = preferences
        }

        /// Reads a selection; every key may be absent.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            quality = try values.decodeIfPresent(Quality.self, forKey: .quality)
            audio = try values.decodeIfPresent(Choice.self, forKey: .audio) ?? .default
            subtitles = try values.decodeIfPresent(Choice.self, forKey: .subtitles) ?? .none
            preferences = try values.decodeIfPresent(Preferences.self, forKey: .preferences)
        }

        /// Why no variant could be what is asked for, as a sentence with what to leave out; nil when one could.
        public var contradiction: String? {
            guard let quality, let preferences else { return nil }
            if preferences.isFast == true, quality == .best {
                return "the best quality is not the fastest download: give one of the two"
            }
            switch quality {
            case .worst where preferences.minimumBitRate != nil || preferences.minimumSize != nil:
                return "the worst quality has no minimum: give one of the two"
            case .minimumBandwidth where preferences.minimumBitRate != nil:
                return "the quality \(quality) is a minimum bit rate already: give one of the two"
            case .height(let height), .heightAtMost(let height):
                guard let size = preferences.minimumSize, size.height > height else { return nil }
                return "nothing of the quality \(quality) has the minimum size \(size): give one of the two"
            default: return nil
            }
        }
    }
}
