extension API {
    /// Extent to which something is stored.
    public enum Local: String, Codable, Sendable {
        /// Nothing.
        case none
        /// Some segments, with holes.
        case partly
        /// Every segment, key and initialization section.
        case complete
    }

    /// One EXT-X-STREAM-INF of a multivariant playlist (RFC 8216 §4.3.4.2), or a lone media playlist.
    public struct Variant: Codable, Equatable, Sendable {
        /// The rendition's id in the store, for example `video-720p`.
        public var id: String
        /// Pixels across; absent with `height` when RESOLUTION is, and for sound alone.
        public var width: Int?
        /// Pixels down.
        public var height: Int?
        /// CODECS as the playlist has it.
        public var codecs: String?
        /// BANDWIDTH, the peak, in bits a second; absent for a lone media playlist.
        public var bandwidth: Int?
        /// AVERAGE-BANDWIDTH, in bits a second.
        public var averageBandwidth: Int?
        /// FRAME-RATE, in frames a second.
        public var frameRate: Double?
        /// VIDEO-RANGE (`SDR`, `HLG`, `PQ`).
        public var videoRange: String?
        /// An estimate of the whole variant's size in bytes, with one rendition of each of its groups, for so its bit
        /// rates are counted (rfc8216bis §4.4.6.2).
        public var estimatedBytes: Int?
        /// Extent to which it is stored.
        public var local: Local
        /// Stored bytes.
        public var bytes: Int

        /// A variant of which nothing is known but its id.
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
        /// NAME, for people.
        public var name: String
        /// LANGUAGE, an RFC 5646 tag.
        public var language: String?
        /// DEFAULT=YES.
        public var isDefault: Bool
        /// FORCED=YES, of subtitles.
        public var isForced: Bool?
        /// CHANNELS as the playlist has it.
        public var channels: String?
        /// An estimate of its whole size in bytes; absent unless it is a variant by itself as well, for a playlist
        /// tells of no other.
        public var estimatedBytes: Int?
        /// Extent to which it is stored.
        public var local: Local
        /// Stored bytes.
        public var bytes: Int

        /// A rendition of which nothing is stored.
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

        /// Tracks; none unless given.
        public init(variants: [Variant] = [], audio: [Rendition] = [], subtitles: [Rendition] = []) {
            self.variants = variants
            self.audio = audio
            self.subtitles = subtitles
        }
    }
}

extension API.Variant {
    /// `720p`; of sound alone `audio`; nil when the playlist does not say.
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
    /// The highest quality that is stored whole; where none is, the highest of which something is.
    public var storedQuality: String? {
        let whole = variants.filter { $0.local == .complete }
        let stored = whole.isEmpty ? variants.filter { $0.local != .none } : whole
        return stored.max { ($0.height ?? 0, $0.bandwidth ?? 0) < ($1.height ?? 0, $1.bandwidth ?? 0) }?.quality
    }
}
