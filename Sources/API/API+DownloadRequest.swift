internal import HTTPMessage

extension API {
    /// The body of `POST /api/v1/downloads`: starts, resumes or extends a download, or attaches to a running one. The
    /// response is a `Download`.
    ///
    /// An asset has one download. Tracks that it already selects are not fetched again, new ones are added, and a
    /// failed, paused or cancelled download continues. As the body of `POST /api/v1/selection` it starts nothing, and
    /// the response is a `Presentation` with its `explanation`.
    public struct DownloadRequest: Codable, Equatable, Sendable {
        /// An origin URL, or the name of a known asset.
        public var source: String
        /// The variant; absent for the best, or for the lowest that meets the minimums of `preferences` if there are
        /// any.
        public var quality: Quality?
        /// The audio renditions.
        public var audio: Choice
        /// The subtitle renditions.
        public var subtitles: Choice
        /// The preferences among variants and renditions.
        public var preferences: Preferences?
        /// Further selections of the same download, after this one. Shared renditions are fetched once.
        public var additional: [SelectionRequest]?
        /// The range of media time; absent for all of it. It is extended to whole segments.
        public var range: MediaRange?
        /// The name of a new asset; if absent, it is derived from the URL.
        public var name: String?
        /// The asset's title.
        public var title: String?
        /// The user's note.
        public var note: String?
        /// The URL of an image for the asset: JPEG, PNG or WebP, at most 4 MB. To send an image file, use `PUT
        /// /api/v1/assets/<name>/artwork`.
        public var artwork: String?
        /// The priority; absent for `default`, or for the former priority of an existing download.
        public var priority: Download.Priority?
        /// True to record a live stream until it ends. Without it, a live stream is refused.
        public var record: Bool?
        /// True to start even if the disk has too little space for the expected size.
        public var anyway: Bool?
        /// True to queue the download paused.
        public var paused: Bool?
        /// Header fields of each request to the origin.
        public var headers: [Header]?

        /// Creates a request, by default for the best variant with its default audio.
        public init(source: String, quality: Quality? = nil, audio: Choice = .default, subtitles: Choice = .none) {
            self.source = source
            self.quality = quality
            self.audio = audio
            self.subtitles = subtitles
        }

        /// Reads a request. Only `source` is required.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            let first = try SelectionRequest(from: decoder)
            (quality, audio, subtitles) = (first.quality, first.audio, first.subtitles)
            preferences = first.preferences
            source = try values.decode(String.self, forKey: .source)
            additional = try values.decodeIfPresent([SelectionRequest].self, forKey: .additional)
            range = try values.decodeIfPresent(MediaRange.self, forKey: .range)
            name = try values.decodeIfPresent(String.self, forKey: .name)
            title = try values.decodeIfPresent(String.self, forKey: .title)
            note = try values.decodeIfPresent(String.self, forKey: .note)
            artwork = try values.decodeIfPresent(String.self, forKey: .artwork)
            priority = try values.decodeIfPresent(Download.Priority.self, forKey: .priority)
            record = try values.decodeIfPresent(Bool.self, forKey: .record)
            anyway = try values.decodeIfPresent(Bool.self, forKey: .anyway)
            paused = try values.decodeIfPresent(Bool.self, forKey: .paused)
            headers = try values.decodeIfPresent([Header].self, forKey: .headers)
        }

        /// All selections: the request's own, then the additional ones.
        public var selections: [SelectionRequest] {
            [SelectionRequest(quality: quality, audio: audio, subtitles: subtitles, preferences: preferences)]
                + (additional ?? [])
        }

        /// The contradiction in the request, as a sentence that names the field to leave out; nil if there is none.
        public var contradiction: String? {
            if record == true, range != nil {
                return "a recording is of all that comes, and has no range: give one of the two"
            }
            return selections.lazy.compactMap(\.contradiction).first
        }
    }

    /// The body of `POST /api/v1/downloads/<id>/resume`. Optional.
    public struct ResumeRequest: Codable, Equatable, Sendable {
        /// A new URL of the asset, for example after its former URL has expired.
        public var url: String?
        /// New header fields of each request to the origin; if absent, the former ones, which are sent to the same
        /// scheme, host and port only.
        public var headers: [Header]?

        /// Creates a request.
        public init(url: String? = nil, headers: [Header]? = nil) {
            self.url = url
            self.headers = headers
        }
    }

    /// A user's change of an existing download: `POST /api/v1/downloads/<id>/<change>`. The raw values are part of the
    /// API.
    public enum DownloadChange: String, Sendable, CaseIterable {
        /// Pauses the download until it is resumed.
        case pause
        /// Resumes the download, even after a failure or a cancellation. A waiting download tries again at once.
        case resume
        /// Cancels the download. Stored pieces are kept.
        case cancel
    }
}

extension API {
    /// One selection: a variant with renditions. `DownloadRequest` has the same keys, and further selections in
    /// `additional`.
    public struct SelectionRequest: Codable, Equatable, Sendable {
        /// The variant; absent for the best, or for the lowest that meets the minimums of `preferences` if there are
        /// any.
        public var quality: Quality?
        /// The audio renditions.
        public var audio: Choice
        /// The subtitle renditions.
        public var subtitles: Choice
        /// The preferences among variants and renditions.
        public var preferences: Preferences?

        /// Creates a selection, by default of the best variant with its default audio.
        public init(
            quality: Quality? = nil, audio: Choice = .default, subtitles: Choice = .none,
            preferences: Preferences? = nil
        ) {
            self.quality = quality
            self.audio = audio
            self.subtitles = subtitles
            self.preferences = preferences
        }

        /// Reads a selection. Every key is optional.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            quality = try values.decodeIfPresent(Quality.self, forKey: .quality)
            audio = try values.decodeIfPresent(Choice.self, forKey: .audio) ?? .default
            subtitles = try values.decodeIfPresent(Choice.self, forKey: .subtitles) ?? .none
            preferences = try values.decodeIfPresent(Preferences.self, forKey: .preferences)
        }

        /// The contradiction in the selection, as a sentence that names the field to leave out; nil if there is none.
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

extension API {
    /// A header field for requests to the asset's origin only: `{"name":"Referer","value":"https://example.com/"}`.
    ///
    /// The value is a secret: no response and no message contains it.
    public struct Header: Codable, Equatable, Sendable, CustomStringConvertible {
        /// The field's name.
        public var name: String
        /// The field's value.
        public var value: String

        /// Parses `Name: value`; nil if the text is not a field line (RFC 9110 §5).
        public init?(_ line: String) {
            guard let field = FieldLine(Array(line.utf8)) else { return nil }
            name = field.name
            value = field.value
        }

        /// The field line: `Name: value`.
        public var line: String { "\(name): \(value)" }

        /// The name without the value, which is a secret.
        public var description: String { name }
    }
}
