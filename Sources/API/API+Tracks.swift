import Orders
package import SafeText

extension API {
    /// Extent to which something is stored.
    package enum Local: String, Codable, Sendable {
        case none
        case partial
        case complete
    }

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
        package var local: Local
        package var bytes: Int
        package init(id: String, local: Local = .none, bytes: Int = 0) {
            (self.id, self.local, self.bytes) = (id, local, bytes)
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
        /// CHANNELS as in the playlist.
        package var channels: String?
        /// Estimated size in bytes, only if the rendition is also a variant: playlists give no bit rate for others.
        package var estimatedBytes: Int?
        package var local = Local.none
        package var bytes = 0
        package init(id: String?, group: String, name: String, language: String? = nil, isDefault: Bool = false) {
            (self.id, self.group, self.name, self.language, self.isDefault) = (id, group, name, language, isDefault)
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
            (self.variants, self.audio, self.subtitles) = (variants, audio, subtitles)
        }
    }

    /// The choice that a selection makes in a presentation, with a reason for each variant.
    package struct Explanation: Codable, Equatable, Sendable {
        package struct Reason: Codable, Equatable, Sendable {
            /// Index in the presentation's `tracks.variants`, because several variants may have the same id.
            package var index: Int
            package var id: String
            package var reason: String
            package init(index: Int, id: String, reason: String) {
                (self.index, self.id, self.reason) = (index, id, reason)
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
            package init(id: String, reason: String) { (self.id, self.reason) = (id, reason) }
        }

        package init(chosen: Reason, others: [Reason], selection: Tracks) {
            (self.chosen, self.others, self.selection) = (chosen, others, selection)
        }
    }

    /// The choice of a variant; as text `best`, `worst`, `720p`, `<=1080p`, `2M`, `265000`.
    package enum Quality: Equatable, Sendable, LosslessStringConvertible {
        case best
        case worst
        /// Exactly this height in pixels; among several, the highest bandwidth.
        case height(Int)
        /// At most this height in pixels; among several, the highest bandwidth.
        case heightAtMost(Int)
        /// The lowest bandwidth of at least this many bits per second, else the highest.
        case minimumBandwidth(Int)

        package init?(_ text: String) {
            switch text {
            case "best": self = .best
            case "worst": self = .worst
            default:
                guard let form = Self.height(text) ?? Self.bandwidth(text) else { return nil }
                self = form
            }
        }

        private static func height(_ text: String) -> Quality? {
            let isBound = text.hasPrefix("<=")
            guard text.hasSuffix("p"), let pixels = positive(text.dropFirst(isBound ? 2 : 0).dropLast()) else {
                return nil
            }
            return isBound ? .heightAtMost(pixels) : .height(pixels)
        }

        private static func bandwidth(_ text: String) -> Quality? {
            BitRateText.bits(text).flatMap { $0 >= BitRateText.least ? .minimumBandwidth($0) : nil }
        }

        /// The height that a number too small for a bit rate probably means; nil for any other text.
        package static func meantHeight(_ text: String) -> Int? {
            positive(Substring(text)).flatMap { $0 < BitRateText.least ? $0 : nil }
        }

        package var description: String {
            switch self {
            case .best: "best"
            case .worst: "worst"
            case .height(let pixels): "\(pixels)p"
            case .heightAtMost(let pixels): "<=\(pixels)p"
            case .minimumBandwidth(let bits) where bits % 1_000_000 == 0: "\(bits / 1_000_000)M"
            case .minimumBandwidth(let bits): "\(bits)"
            }
        }
    }

    /// The choice of renditions in a group; as text `default`, `auto`, `all`, `none`, or languages such as `en,ja`.
    package enum Choice: Equatable, Sendable, LosslessStringConvertible {
        /// The rendition that a player would choose: preferred language, user's language, DEFAULT=YES, or the first.
        case `default`
        /// Of subtitles, those that players show unasked: DEFAULT=YES, and FORCED in the user's language.
        case auto
        case all
        case none
        /// Renditions whose LANGUAGE begins with one of these tags (`en` includes `en-GB`); lower case, not empty.
        case languages([String])

        package init?(_ text: String) {
            switch text {
            case "default": self = .default
            case "auto": self = .auto
            case "all": self = .all
            case "none": self = .none
            default:
                let tags = text.lowercased().split(separator: ",", omittingEmptySubsequences: false).map(String.init)
                guard tags.allSatisfy(Self.isTag) else { return nil }
                self = .languages(tags)
            }
        }

        private static func isTag(_ text: String) -> Bool {
            (2...35).contains(text.utf8.count)
                && text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
        }

        package var description: String {
            switch self {
            case .default: "default"
            case .auto: "auto"
            case .all: "all"
            case .none: "none"
            case .languages(let tags): tags.joined(separator: ",")
            }
        }
    }

    /// Preferences for choices that a request leaves open; part of `DownloadRequest`. Every key is optional.
    package struct Preferences: Codable, Equatable, Sendable {
        /// Chooses the lowest variant with at least this many bits per second, else the highest variant.
        package var minimumBitRate: Int?
        /// Chooses the lowest variant of at least this size, else the highest variant.
        package var minimumSize: Size?
        /// True if HLG and PQ variants rank before SDR.
        package var prefersHDR: Bool?
        /// True if variants with more than stereo rank before others. Stereo is then stored as well.
        package var prefersMultichannel: Bool?
        /// Codec families, most preferred first: `avc1`, `hvc1`.
        package var codecs: [String]?
        /// Languages for a `Choice` of `default` as RFC 5646 tags, most preferred first.
        package var languages: [String]?
        /// The user's language as an RFC 5646 tag, used if none of `languages` is available.
        package var locale: String?
        /// True to prefer speed over quality: chooses the fewest bytes that meet the request.
        package var isFast: Bool?
        /// True to store the interstitials that the playlists name as well.
        package var keepsInterstitials: Bool?
        /// True to store a playlist of I-frames as well, for trick play.
        package var keepsTrickPlay: Bool?
        package init() {}
    }

    /// A minimum video size; as text `1280x720` or `720p`.
    package struct Size: Equatable, Sendable, LosslessStringConvertible {
        /// Width in pixels; nil for any.
        package let width: Int?
        package let height: Int

        package init(width: Int?, height: Int) { (self.width, self.height) = (width, height) }

        package init?(_ text: String) {
            if text.hasSuffix("p") {
                guard let height = positive(text.dropLast()) else { return nil }
                self.init(width: nil, height: height)
            } else {
                let parts = text.split(separator: "x", omittingEmptySubsequences: false)
                guard parts.count == 2, let width = positive(parts[0]), let height = positive(parts[1]) else {
                    return nil
                }
                self.init(width: width, height: height)
            }
        }

        package var description: String { width.map { "\($0)x\(height)" } ?? "\(height)p" }
    }
}

/// Parses decimal digits of a number above 0.
private func positive(_ digits: Substring) -> Int? {
    guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let value = Int(digits), value > 0 else { return nil }
    return value
}
extension API.Variant {
    /// A short label: `720p`, or `audio` for audio alone; nil if the playlist does not give the height.
    package var quality: String? {
        if let height { return "\(height)p" }
        return isAudioOnly ? "audio" : nil
    }

    private var isAudioOnly: Bool {
        guard let codecs, !codecs.isEmpty else { return false }
        let sound = ["mp4a", "ac-3", "ec-3", "ac-4", "alac", "fLaC", "Opus", "opus"]
        return codecs.split(separator: ",").allSatisfy { codec in sound.contains { codec.contains($0) } }
    }
}

extension API.Tracks {
    /// The highest complete quality; without a complete variant, the highest partial one.
    package var storedQuality: String? {
        let complete = variants.filter { $0.local == .complete }
        let stored = complete.isEmpty ? variants.filter { $0.local != .none } : complete
        return stored.max { ($0.height ?? 0, $0.bandwidth ?? 0) < ($1.height ?? 0, $1.bandwidth ?? 0) }?.quality
    }
}

extension API.Quality: Codable {
    package init(from decoder: any Decoder) throws { self = try decoder.form("best, worst, 720p, <=1080p or 2M") }
    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension API.Choice: Codable {
    package init(from decoder: any Decoder) throws { self = try decoder.form("default, all, none or en,ja") }
    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}

extension Decoder {
    /// Decodes a string with few forms; `wanted` names the forms for the error.
    func form<Value: LosslessStringConvertible>(_ wanted: String) throws -> Value {
        let text = try singleValueContainer().decode(String.self)
        guard let value = Value(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath, debugDescription: "\"\(text)\" is not \(wanted)"))
        }
        return value
    }
}

extension API.Size: Codable {
    package init(from decoder: any Decoder) throws { self = try decoder.form("1280x720 or 720p") }
    package func encode(to encoder: any Encoder) throws { try description.encode(to: encoder) }
}
