extension API {
    /// The body of `POST /api/v1/downloads`: starts a download, resumes one, or attaches to one under way.
    ///
    /// A download of the same asset with the same selection is the same download; its state is given back as it is, and a
    /// failed or cancelled one starts again. Answered by `Download`.
    public struct DownloadRequest: Codable, Equatable, Sendable {
        /// An origin URL, or the name of a known asset.
        public var source: String
        /// Which variant.
        public var quality: Quality
        /// Which audio renditions.
        public var audio: Choice
        /// Which subtitle renditions.
        public var subtitles: Choice
        /// The name that a new asset gets; chosen from the URL when absent.
        public var name: String?
        /// The title that the asset gets.
        public var title: String?

        /// A request for the best variant with its default audio.
        public init(source: String, quality: Quality = .best, audio: Choice = .default, subtitles: Choice = .none) {
            self.source = source
            self.quality = quality
            self.audio = audio
            self.subtitles = subtitles
        }

        /// Reads a request; only `source` has to be there.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            source = try values.decode(String.self, forKey: .source)
            quality = try values.decodeIfPresent(Quality.self, forKey: .quality) ?? .best
            audio = try values.decodeIfPresent(Choice.self, forKey: .audio) ?? .default
            subtitles = try values.decodeIfPresent(Choice.self, forKey: .subtitles) ?? .none
            name = try values.decodeIfPresent(String.self, forKey: .name)
            title = try values.decodeIfPresent(String.self, forKey: .title)
        }
    }
}
