import HLS
import Orders
import SafeText

/// A condition on a variant. Absent attributes count as the lowest value; an absent AVERAGE-BANDWIDTH as BANDWIDTH, and
/// an absent VIDEO-RANGE as SDR (rfc8216bis §4.4.6.2).
indirect enum VariantPredicate: Equatable, Sendable {
    /// A limit of an attribute's value.
    enum Bound<Value: Comparable & Sendable>: Equatable, Sendable {
        case atLeast(Value)
        case atMost(Value)
        case exactly(Value)

        func admits(_ value: Value) -> Bool {
            switch self {
            case .atLeast(let least): value >= least
            case .atMost(let most): value <= most
            case .exactly(let wanted): value == wanted
            }
        }
    }

    case peakBitRate(Bound<BitRate>)
    case averageBitRate(Bound<BitRate>)
    case width(Bound<Int>)
    case height(Bound<Int>)
    case frameRate(Bound<Ratio>)
    /// Highest channel count in the audio group (CHANNELS of EXT-X-MEDIA).
    case channels(Bound<Int>)
    /// One of these VIDEO-RANGE values: `SDR`, `HLG`, `PQ`.
    case videoRange([String])
    /// A codec of this family in CODECS, such as `avc1`, `hvc1` or `mp4a`; the profile is ignored.
    case codec(String)
    case all([VariantPredicate])
    case any([VariantPredicate])
    case not(VariantPredicate)

    static let highDynamicRange = videoRange(["HLG", "PQ"])
    static let multichannel = channels(.atLeast(3))
    /// Has video, judging by RESOLUTION.
    static let picture = height(.atLeast(1))

    func admits(_ variant: Variant, in playlist: MultivariantPlaylist) -> Bool {
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

extension VariantPredicate {
    init(_ condition: VariantCondition) {
        let attribute = condition.attribute
        let comparison = condition.comparison
        switch condition.value {
        case .number(let number):
            let isNegated = [.below, .above, .isNot].contains(comparison)
            let positive: Self =
                switch attribute {
                case .peak: .peakBitRate(Bound(comparison, BitRate(estimate: number.value)))
                case .average: .averageBitRate(Bound(comparison, BitRate(estimate: number.value)))
                case .width: .width(Bound(comparison, Int(number.value)))
                case .height: .height(Bound(comparison, Int(number.value)))
                case .channels: .channels(Bound(comparison, Int(number.value)))
                case .fps, .range, .codec: .frameRate(Bound(comparison, number))
                }
            self = isNegated ? .not(positive) : positive
        case .words(let words):
            var positive = Self.any(words.map { .codec($0) })
            if attribute == .range {
                positive = .videoRange(words)
            }
            self = comparison == .isNot ? .not(positive) : positive
        }
    }
}

extension VariantPredicate.Bound {
    /// The bound, or that of the opposite for `<`, `>` and `!=`.
    fileprivate init(_ comparison: VariantCondition.Comparison, _ value: Value) {
        self =
            switch comparison {
            case .atMost, .above: .atMost(value)
            case .atLeast, .below: .atLeast(value)
            case .equal, .isNot: .exactly(value)
            }
    }
}

/// The codec name before its profile (RFC 6381). Names that differ only in where the parameter sets are sent are equal.
private struct CodecFamily: Equatable {
    private static let otherNames = ["avc3": "avc1", "hev1": "hvc1", "dvhe": "dvh1", "dvav": "dva1"]
    private let name: String

    init(_ codec: String) {
        let name = codec.prefix { $0 != "." }.lowercased()
        self.name = Self.otherNames[name] ?? name
    }
}

extension Media {
    /// The leading number of CHANNELS (16 for `16/JOC`); 0 if the attribute is absent.
    var channelCount: Int {
        guard let channels, let count = Int(channels.prefix { $0 != "/" }) else { return 0 }
        return count
    }
}

extension VariantPredicate: CustomStringConvertible {
    /// Text after "is": `at most 720p`, `avc1`, `at least 2.0 Mb/s`.
    var description: String {
        switch self {
        case .peakBitRate(let bound): bound.words { "\($0)" }
        case .averageBitRate(let bound): bound.words { "\($0) on average" }
        case .width(let bound): bound.words { "\($0) pixels wide" }
        case .height(let bound): bound.words { "\($0)p" }
        case .frameRate(let bound): bound.words { "\($0) frames a second" }
        case .channels(.atLeast(3)): "multichannel"
        case .channels(let bound): bound.words { "\($0) channels" }
        case .videoRange(let ranges): ranges.joined(separator: " or ")
        case .codec(let family): family
        case .all(let parts): parts.map(\.description).joined(separator: " and ")
        case .any(let parts): parts.map(\.description).joined(separator: " or ")
        case .not(let part): "not \(part)"
        }
    }
}

extension VariantPredicate.Bound {
    fileprivate func words(_ value: (Value) -> String) -> String {
        switch self {
        case .atLeast(let least): "at least " + value(least)
        case .atMost(let most): "at most " + value(most)
        case .exactly(let wanted): value(wanted)
        }
    }
}
