package import Orders
package import SafeText

extension API {
    /// One EXT-X-STREAM-INF of a multivariant playlist (RFC 8216 §4.3.4.2), or a lone media playlist.
    package struct Variant: Codable, Equatable, Sendable {
        /// The rendition's id in the store, for example `video-720p`.
        package var id: String
        /// Width in pixels; absent, as `height` is, without RESOLUTION and for audio alone.
        package var width: Int?
        package var height: Int?
        /// CODECS as in the playlist.
        package var codecs: String?
        /// BANDWIDTH, the peak in bits per second; absent for a lone media playlist.
        package var bandwidth: Int?
        /// AVERAGE-BANDWIDTH in bits per second.
        package var averageBandwidth: Int?
        /// FRAME-RATE in frames per second.
        package var frameRate: Ratio?
        /// VIDEO-RANGE (`SDR`, `HLG`, `PQ`).
        package var videoRange: String?
        /// Estimated size with one rendition of each of its groups, which its bit rates include (rfc8216bis §4.4.6.2).
        package var estimatedBytes: Int?
        /// The word for what is stored of it: `saved`, `partly-saved`, `cached` or `not-stored`.
        package var stored: AssetState
        /// True if every piece of it is stored, saved or cached.
        package var isComplete: Bool
        package var bytes: Int
        package init(id: String, stored: AssetState = .notStored, isComplete: Bool = false, bytes: Int = 0) {
            self.id = id
            self.stored = stored
            self.isComplete = isComplete
            self.bytes = bytes
        }
    }

    /// One EXT-X-MEDIA of a multivariant playlist (RFC 8216 §4.3.4.1).
    package struct Rendition: Codable, Equatable, Sendable {
        /// The id in the store, for example `audio-en`; absent if the audio is in the variants' own segments.
        package var id: String?
        /// GROUP-ID.
        package var group: String
        /// NAME, for display.
        package var name: String
        /// LANGUAGE, an RFC 5646 tag.
        package var language: String?
        package var isDefault: Bool
        /// FORCED=YES, for subtitles only.
        package var isForced: Bool?
        /// INSTREAM-ID of closed captions: `CC1` to `CC4`, `SERVICE1` to `SERVICE63`.
        package var instreamID: String?
        /// True for a track that the user attached; absent for one of the playlist.
        package var isAttached: Bool?
        /// The codec of the sound without its profile, such as `mp4a`, if all variants of its group agree on one.
        package var codec: String?
        /// CHANNELS as in the playlist.
        package var channels: String?
        /// Estimated size in bytes, only if the rendition is also a variant: playlists give no bit rate for others.
        package var estimatedBytes: Int?
        /// As in `Variant`.
        package var stored = AssetState.notStored
        /// As in `Variant`.
        package var isComplete = false
        package var bytes = 0
        package init(id: String?, group: String, name: String, language: String? = nil, isDefault: Bool = false) {
            self.id = id
            self.group = group
            self.name = name
            self.language = language
            self.isDefault = isDefault
        }
    }

    /// The tracks of a presentation in the playlist's order, or the selected tracks of a download.
    package struct Tracks: Codable, Equatable, Sendable {
        package var variants: [Variant]
        package var audio: [Rendition]
        package var subtitles: [Rendition]
        /// TYPE=CLOSED-CAPTIONS: captions within the video, which every variant brings along; absent if there are none.
        package var captions: [Rendition]?
        /// Attached chapters; absent if there are none.
        package var chapters: [Rendition]?
        /// Attached thumbnails; absent if there are none.
        package var thumbnails: [Rendition]?
        package init(variants: [Variant] = [], audio: [Rendition] = [], subtitles: [Rendition] = []) {
            self.variants = variants
            self.audio = audio
            self.subtitles = subtitles
        }

        /// The approximate length of the text, in bytes.
        package var textSize: Int { 256 * (variants.count + audio.count + subtitles.count) }
    }

    /// The choice that a selection makes in a presentation, with a reason for each variant.
    package struct Explanation: Codable, Equatable, Sendable {
        package struct Reason: Codable, Equatable, Sendable {
            /// Index in the presentation's `tracks.variants`, because several variants may have the same id.
            package var index: Int
            package var id: String
            package var reason: String
            package init(index: Int, id: String, reason: String) {
                self.index = index
                self.id = id
                self.reason = reason
            }
        }

        /// The chosen variant. The reason completes a sentence after "it has".
        package var chosen: Reason
        /// All other variants in the playlist's order. The reason completes a sentence after "it".
        package var others: [Reason]
        package var selection: Tracks
        /// Variants whose stored segments never substitute the chosen variant's, with a sentence; absent if none.
        package var incompatible: [Incompatible]?

        /// A variant whose segments cannot be combined with the chosen variant's.
        package struct Incompatible: Codable, Equatable, Sendable {
            package var id: String
            package var reason: String
            package init(id: String, reason: String) {
                self.id = id
                self.reason = reason
            }
        }

        package init(chosen: Reason, others: [Reason], selection: Tracks) {
            self.chosen = chosen
            self.others = others
            self.selection = selection
        }
    }
}

extension API.Variant {
    /// A short label: `720p`, or `audio` for audio alone; nil if the playlist does not give the height.
    package var quality: String? {
        if let height {
            return "\(height)p"
        }
        guard isAudioOnly else { return nil }
        return "audio"
    }

    private var isAudioOnly: Bool {
        guard let codecs, !codecs.isEmpty else { return false }
        let sound = ["mp4a", "ac-3", "ec-3", "ac-4", "alac", "fLaC", "Opus", "opus"]
        return codecs.split(separator: ",").allSatisfy { codec in sound.contains { codec.contains($0) } }
    }

    /// Orders variants by height; those of one height, or without one, by bit rate.
    fileprivate var rank: (height: Int, bandwidth: Int) {
        let height = height ?? 0
        let bandwidth = bandwidth ?? 0
        return (height, bandwidth)
    }
}

extension API.Tracks {
    /// The highest complete quality; without a complete variant, the highest one of which something is stored.
    package var storedQuality: String? {
        let complete = variants.filter(\.isComplete)
        let stored = complete.isEmpty ? variants.filter { $0.stored != .notStored } : complete
        return stored.max { $0.rank < $1.rank }?.quality
    }
}
