public import Playlist

/// A condition on a variant: what selections require and prefer is made of these.
///
/// What a playlist does not say counts as the least that it could be: no pixels, no codec, no channels.
/// AVERAGE-BANDWIDTH counts as BANDWIDTH where it is absent, and VIDEO-RANGE as SDR (rfc8216bis §4.4.6.2).
public enum VariantPredicate: Equatable, Sendable {
    /// How a number has to compare.
    public enum Bound<Value: Comparable & Sendable>: Equatable, Sendable {
        /// So much or more.
        case atLeast(Value)
        /// So much or less.
        case atMost(Value)
        /// Just so much.
        case exactly(Value)

        func admits(_ value: Value) -> Bool {
            switch self {
            case .atLeast(let least): value >= least
            case .atMost(let most): value <= most
            case .exactly(let wanted): value == wanted
            }
        }
    }

    /// BANDWIDTH, in bits a second.
    case peakBitRate(Bound<Int>)
    /// AVERAGE-BANDWIDTH, in bits a second.
    case averageBitRate(Bound<Int>)
    /// RESOLUTION's pixels across.
    case width(Bound<Int>)
    /// RESOLUTION's pixels down.
    case height(Bound<Int>)
    /// FRAME-RATE, in frames a second.
    case frameRate(Bound<Double>)
    /// The most channels that a rendition of its audio group has (CHANNELS of EXT-X-MEDIA).
    case channels(Bound<Int>)
    /// One of these VIDEO-RANGEs: `SDR`, `HLG`, `PQ`.
    case videoRange([String])
    /// A codec of this family among CODECS, such as `avc1`, `hvc1` or `mp4a`; its profile does not count.
    case codec(String)
    /// Every one of these; true of none.
    case all([VariantPredicate])
    /// One of these at least; false of none.
    case any([VariantPredicate])
    /// Not this.
    indirect case not(VariantPredicate)

    /// More than the light of ordinary screens: HLG or PQ.
    public static let highDynamicRange = videoRange(["HLG", "PQ"])
    /// More than stereo.
    public static let multichannel = channels(.atLeast(3))
    /// A picture, as far as RESOLUTION tells.
    public static let picture = height(.atLeast(1))

    /// Whether a variant of this playlist meets it.
    public func admits(_ variant: Variant, in playlist: MultivariantPlaylist) -> Bool {
        switch self {
        case .peakBitRate(let bound): bound.admits(variant.bandwidth)
        case .averageBitRate(let bound): bound.admits(variant.averageBandwidth ?? variant.bandwidth)
        case .width(let bound): bound.admits(variant.resolution?.width ?? 0)
        case .height(let bound): bound.admits(variant.resolution?.height ?? 0)
        case .frameRate(let bound): bound.admits(variant.frameRate ?? 0)
        case .channels(let bound): bound.admits(Self.channels(of: variant, in: playlist))
        case .videoRange(let ranges): ranges.contains(variant.videoRange ?? "SDR")
        case .codec(let family):
            variant.codecs.contains { CodecFamily($0) == CodecFamily(family) }
        case .all(let parts): parts.allSatisfy { $0.admits(variant, in: playlist) }
        case .any(let parts): parts.contains { $0.admits(variant, in: playlist) }
        case .not(let part): !part.admits(variant, in: playlist)
        }
    }

    private static func channels(of variant: Variant, in playlist: MultivariantPlaylist) -> Int {
        guard let group = variant.audio else { return 0 }
        let members = playlist.media.lazy.filter { $0.type == .audio && $0.groupID == group }
        return members.map(\.channelCount).max() ?? 0
    }
}

/// What a codec is called before its profile (RFC 6381), one name for those that differ only in where parameter sets
/// lie.
private struct CodecFamily: Equatable {
    private static let otherNames = ["avc3": "avc1", "hev1": "hvc1", "dvhe": "dvh1", "dvav": "dva1"]
    private let name: String

    init(_ codec: String) {
        let name = codec.prefix { $0 != "." }.lowercased()
        self.name = Self.otherNames[name] ?? name
    }
}

extension Media {
    /// The number that CHANNELS begins with (`16/JOC` has 16); 0 where it is absent.
    var channelCount: Int { channels.flatMap { Int($0.prefix { $0 != "/" }) } ?? 0 }
}
