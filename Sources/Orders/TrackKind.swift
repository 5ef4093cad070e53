/// The kind of a rendition's media. The raw values are in the API, and at the beginning of the renditions' ids.
public enum TrackKind: String, Codable, Sendable {
    /// A variant's own rendition: video, with or without audio, or audio alone.
    case video
    case audio
    case subtitles
}
