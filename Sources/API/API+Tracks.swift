extension API {
    /// Extent to which something is stored.
    public enum Local: String, Codable, Sendable {
        /// Nothing is stored.
        case none
        /// Some segments are stored, with holes.
        case partly
        /// Every segment, key and initialization section is stored.
        case complete
    }

    /// One EXT-X-STREAM-INF of a multivariant playlist (RFC 8216 §4.3.4.2), or a lone media playlist.
    public struct Variant: Codable, Equatable, Sendable {
        /// The rendition's id in the store, for example `video-720p`.
        public var id: String
        /// Width in pixels; absent, as `height` is, without RESOLUTION and for audio alone.
        public var width: Int?
        /// Height in pixels.
        public var height: Int?
        /// CODECS as in the playlist.
        public var codecs: String?
        /// BANDWIDTH, the peak in bits per second; absent for a lone media playlist.
        public var bandwidth: Int?
        /// AVERAGE-BANDWIDTH in bits per second.
        public var averageBandwidth: Int?
        /// FRAME-RATE in frames per second.
        public var frameRate: Double?
        /// VIDEO-RANGE (`SDR`, `HLG`, `PQ`).
        public var videoRange: String?
        /// Estimated size of the variant in bytes with one rendition of each of its groups, because its bit rates
        /// include those (rfc8216bis §4.4.6.2).
        public var estimatedBytes: Int?
        /// Extent to which the variant is stored.
        public var local: Local
        /// Stored bytes.
        public var bytes: Int

        /// Creates a variant with only its id known.
        public init(id: String, local: Local = .none, bytes: Int = 0) {
            self.id = id
            self.local = local
            self.bytes = bytes
        }
    }

    /// One EXT-X-MEDIA of a multivariant playlist (RFC 8216 §4.3.4.1).
    public struct Rendition: Codable, Equatable, Sendable {
        /// The id in the store, for example `audio-en`; absent if the audio is in the variants' own segments.
        public var id: String?
        /// GROUP-ID.
        public var group: String
        /// NAME, for display.
        public var name: String
        /// LANGUAGE, an RFC 5646 tag.
        public var language: String?
        /// DEFAULT=YES.
        public var isDefault: Bool
        /// FORCED=YES, for subtitles only.
        public var isForced: Bool?
        /// CHANNELS as in the playlist.
        public var channels: String?
        /// Estimated size in bytes. Present only if the rendition is also a variant of its own, because playlists give
        /// no bit rate for other renditions.
        public var estimatedBytes: Int?
        /// Extent to which the rendition is stored.
        public var local: Local
        /// Stored bytes.
        public var bytes: Int

        /// Creates a rendition of which nothing is stored.
        public init(id: String?, group: String, name: String, language: String? = nil, isDefault: Bool = false) {
            self.id = id
            self.group = group
            self.name = name
            self.language = language
            self.isDefault = isDefault
            local = .none
            bytes = 0
        }
    }

    /// The tracks of a presentation in the playlist's order, or the selected tracks of a download.
    public struct Tracks: Codable, Equatable, Sendable {
        /// The variants.
        public var variants: [Variant]
        /// Renditions of TYPE=AUDIO.
        public var audio: [Rendition]
        /// Renditions of TYPE=SUBTITLES.
        public var subtitles: [Rendition]

        /// Creates tracks, by default none.
        public init(variants: [Variant] = [], audio: [Rendition] = [], subtitles: [Rendition] = []) {
            self.variants = variants
            self.audio = audio
            self.subtitles = subtitles
        }
    }
}

extension API.Variant {
    /// A short label: `720p`, or `audio` for audio alone; nil if the playlist does not give the height.
    public var quality: String? {
        if let height { return "\(height)p" }
        return isSoundAlone ? "audio" : nil
    }

    private var isSoundAlone: Bool {
        guard let codecs, !codecs.isEmpty else { return false }
        let sound = ["mp4a", "ac-3", "ec-3", "ac-4", "alac", "fLaC", "Opus", "opus"]
        return codecs.split(separator: ",").allSatisfy { codec in sound.contains { codec.contains($0) } }
    }
}

extension API.Tracks {
    /// The highest complete quality; without a complete variant, the highest partial one.
    public var storedQuality: String? {
        let whole = variants.filter { $0.local == .complete }
        let stored = whole.isEmpty ? variants.filter { $0.local != .none } : whole
        return stored.max { ($0.height ?? 0, $0.bandwidth ?? 0) < ($1.height ?? 0, $1.bandwidth ?? 0) }?.quality
    }
}
