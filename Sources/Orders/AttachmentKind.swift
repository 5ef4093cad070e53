/// The kind of a track that the user attaches to an asset. The raw values are in the API and in the store, and never change.
package enum AttachmentKind: String, Codable, Sendable, CaseIterable {
    /// SubRip or WebVTT.
    case subtitles
    /// WebVTT, or JSON as Apple's players and yt-dlp have it.
    case chapters
    /// WebVTT that names pictures beside it, or one picture with a grid of images.
    case thumbnails
}
