extension API {
    /// The body of `POST /api/v1/downloads`: starts a download, resumes one, or attaches to one under way. Answered by
    /// `Download`.
    ///
    /// A download of the same asset with the same selection is the same download; its state is given back as it is, and a
    /// failed or cancelled one starts again. As the body of `POST /api/v1/selection` it starts nothing, and is answered by
    /// a `Presentation` with its `explanation`.
    public struct DownloadRequest: Codable, Equatable, Sendable {
        /// An origin URL, or the name of a known asset.
        public var source: String
        /// Which variant; absent for the best, or the lowest that meets the minimums of `preferences` where there are any.
        public var quality: Quality?
        /// Which audio renditions.
        public var audio: Choice
        /// Which subtitle renditions.
        public var subtitles: Choice
        /// What is preferred.
        public var preferences: Preferences?
        /// The name that a new asset gets; chosen from the URL when absent.
        public var name: String?
        /// The title that the asset gets.
        public var title: String?

        /// A request for the best variant with its default audio.
        public init(source: String, quality: Quality? = nil, audio: Choice = .default, subtitles: Choice = .none) {
            self.source = source
            self.quality = quality
            self.audio = audio
            self.subtitles = subtitles
        }

        /// Reads a request; only `source` has to be there.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            source = try values.decode(String.self, forKey: .source)
            quality = try values.decodeIfPresent(Quality.self, forKey: .quality)
            audio = try values.decodeIfPresent(Choice.self, forKey: .audio) ?? .default
            subtitles = try values.decodeIfPresent(Choice.self, forKey: .subtitles) ?? .none
            preferences = try values.decodeIfPresent(Preferences.self, forKey: .preferences)
            name = try values.decodeIfPresent(String.self, forKey: .name)
            title = try values.decodeIfPresent(String.self, forKey: .title)
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
