internal import HTTPMessage

extension API {
    /// The body of `POST /api/v1/downloads`: starts a download, resumes one, adds to one, or attaches to one under way.
    /// Answered by `Download`.
    ///
    /// An asset has one download. What it wants already is not fetched again; what is new is added to it; and one that
    /// failed, was paused or was cancelled goes on. As the body of `POST /api/v1/selection` it starts nothing, and is
    /// answered by a `Presentation` with its `explanation`.
    public struct DownloadRequest: Codable, Equatable, Sendable {
        /// An origin URL, or the name of a known asset.
        public var source: String
        /// Which variant; absent for the best, or the lowest that meets the minimums of `preferences` where there are
        /// any.
        public var quality: Quality?
        /// Which audio renditions.
        public var audio: Choice
        /// Which subtitle renditions.
        public var subtitles: Choice
        /// The preferences.
        public var preferences: Preferences?
        /// Further selections that the same download keeps, after this one; what they share is fetched once.
        public var additional: [SelectionRequest]?
        /// The media time that is wanted; absent for all of it. Whole segments are kept.
        public var range: MediaRange?
        /// The name that a new asset gets; chosen from the URL when absent.
        public var name: String?
        /// The title that the asset gets.
        public var title: String?
        /// A line of the user's own.
        public var note: String?
        /// The URL of an image that is kept with the asset: JPEG, PNG or WebP, at most 4 MB. An image of one's own is
        /// given by `PUT /api/v1/assets/<name>/artwork`.
        public var artwork: String?
        /// Before whom it comes; absent for `default`, or what it was.
        public var priority: Download.Priority?
        /// True to record a live stream until it ends; otherwise it is refused.
        public var record: Bool?
        /// True to start although the disk has too little space for the expected size.
        public var anyway: Bool?
        /// True to queue the download paused.
        public var paused: Bool?
        /// Header fields of each request to the origin.
        public var headers: [Header]?

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

        /// All selections: its own, then the additional ones.
        public var selections: [SelectionRequest] {
            [SelectionRequest(quality: quality, audio: audio, subtitles: subtitles, preferences: preferences)]
                + (additional ?? [])
        }

        /// The contradiction in the request, as a sentence with the field to leave out; nil if there is none.
        public var contradiction: String? {
            if record == true, range != nil {
                return "a recording is of all that comes, and has no range: give one of the two"
            }
            return selections.lazy.compactMap(\.contradiction).first
        }
    }

    /// The body of `POST /api/v1/downloads/<id>/resume`, which may be left out.
    public struct ResumeRequest: Codable, Equatable, Sendable {
        /// New URL of the asset, after its former URL has expired.
        public var url: String?
        /// New header fields of each request to the origin; if absent, the former ones, which are sent to the same
        /// scheme, host and port only.
        public var headers: [Header]?

        /// A request.
        public init(url: String? = nil, headers: [Header]? = nil) {
            self.url = url
            self.headers = headers
        }
    }

    /// What a person does with a download that there is: `POST /api/v1/downloads/<id>/<change>`. The raw values are part of
    /// the API.
    public enum DownloadChange: String, Sendable, CaseIterable {
        /// Stops it until it is resumed.
        case pause
        /// Lets it go on, whatever it was stopped by; one that waits tries at once.
        case resume
        /// Gives it up; what is stored is kept.
        case cancel
    }
}

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
        /// The preferences.
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

        /// The contradiction in the selection, as a sentence with the field to leave out; nil if there is none.
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
    /// A header field for the origin of an asset, and for no other:
    /// `{"name":"Referer","value":"https://example.com/"}`.
    ///
    /// The value is a secret: nothing that the API gives has it, and no message names it.
    public struct Header: Codable, Equatable, Sendable, CustomStringConvertible {
        /// The field's name.
        public var name: String
        /// The field's value.
        public var value: String

        /// Reads `Name: value`; nil for what is no field line (RFC 9110 §5).
        public init?(_ line: String) {
            guard let field = FieldLine(Array(line.utf8)) else { return nil }
            name = field.name
            value = field.value
        }

        /// `Name: value`.
        public var line: String { "\(name): \(value)" }

        /// The name alone.
        public var description: String { name }
    }
}
