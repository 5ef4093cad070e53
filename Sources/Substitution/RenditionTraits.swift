import HLS
import SafeText

/// The attributes of a rendition in the multivariant playlist that must match for a substitution.
struct RenditionTraits: Equatable {
    /// The content of a rendition.
    enum Kind: Equatable {
        /// A variant's own rendition: with video or audio only; with audio muxed or separate.
        case variant(hasVideo: Bool, isMuxed: Bool)
        case separateAudio(name: String, language: String?, channels: String?, characteristics: String?)
    }

    let kind: Kind
    /// CODECS, sorted; empty if the attribute is absent.
    let codecs: [String]
    /// VIDEO-RANGE.
    let range: String
    /// REQ-VIDEO-LAYOUT.
    let layout: String?
    /// Frames per second; a default if the attribute is absent.
    let frameRate: Double
    /// Decides which of two renditions is better. Audio counts as the lowest variant that uses it.
    let bandwidth: BitRate
    /// The expected bit rate: AVERAGE-BANDWIDTH, if present.
    let rate: BitRate
    private static let defaultFrameRate = 30.0

    /// The traits of all renditions of a playlist, read once: a playlist may have 10,000 variants, and a group 10,000 members.
    struct Table {
        private var byIndex: [Int: RenditionTraits] = [:]
        /// See `interchangeableVariants(of:)`: indices in `variants`.
        private var interchangeable: [Int] = []

        /// The traits by index in `renditionURIs`; nil without substitutes: subtitles, camera angles, trick play.
        subscript(index: Int) -> RenditionTraits? { byIndex[index] }

        init(_ playlist: MultivariantPlaylist) {
            var families = KnownFamilies()
            let audio = playlist.media.filter { $0.type == .audio }
            let indices = Dictionary(grouping: audio, by: \.groupID).mapValues { Set($0.compactMap(\.renditionIndex)) }
            for variant in playlist.variants where byIndex[variant.renditionIndex] == nil {
                var others: Set<Int> = []
                if let audio = variant.audio {
                    others = indices[audio] ?? []
                }
                if others.count == 1 {
                    others.remove(variant.renditionIndex)
                }
                byIndex[variant.renditionIndex] = RenditionTraits(
                    variant, families: families.families(of: variant), isSeparate: !others.isEmpty)
            }
            let users = Dictionary(grouping: playlist.variants.filter { $0.audio != nil }) { $0.audio ?? "" }
                .mapValues { (codecs: $0[0].codecs, bandwidth: $0.map(\.bandwidth).min() ?? .zero) }
            // Of several lines for one rendition the first one counts, whatever its kind.
            var seen: Set<Int> = []
            for media in playlist.media {
                guard let index = media.renditionIndex, seen.insert(index).inserted, byIndex[index] == nil,
                    media.type == .audio
                else { continue }
                if let user = users[media.groupID] {
                    byIndex[index] = RenditionTraits(media, codecs: user.codecs, bandwidth: user.bandwidth)
                } else {
                    byIndex[index] = RenditionTraits(media, codecs: [], bandwidth: .zero)
                }
            }
            interchangeable = findInterchangeable(playlist)
        }

        /// The variants of one kind, each rendition once, lowest bit rate first. Of several kinds, the one with the highest
        /// bit rate that leaves a choice. Empty if none does.
        /// - Parameter playlist: the one that the table was made of, perhaps with fresh tokens.
        func interchangeableVariants(of playlist: MultivariantPlaylist) -> [Variant] {
            let variants = playlist.variants
            return interchangeable.filter(variants.indices.contains).map { variants[$0] }
        }

        private func findInterchangeable(_ playlist: MultivariantPlaylist) -> [Int] {
            var seen: Set<Int> = []
            let first = playlist.variants.enumerated().filter { seen.insert($1.renditionIndex).inserted }
            var left = first.map { (index: $0, bandwidth: $1.bandwidth, traits: byIndex[$1.renditionIndex]) }
                .sorted { $0.bandwidth < $1.bandwidth }
            // A list of 10,000 variants, each of its own kind, is not searched to the end.
            for _ in 0..<Self.mostKinds {
                guard let last = left.popLast(), let top = last.traits else { return [] }
                let same = left.filter { candidate in
                    guard let traits = candidate.traits else { return false }
                    return top.mismatch(to: traits) == nil
                }
                if !same.isEmpty {
                    return (same + [last]).map(\.index)
                }
            }
            return []
        }

        private static let mostKinds = 64
    }

    /// The families of codecs by the text of CODECS, which thousands of variants have in common.
    private struct KnownFamilies {
        private var byText: [String: [String]] = [:]

        mutating func families(of variant: Variant) -> [String] {
            guard let text = variant.attributes["CODECS"] else { return [] }
            if let known = byText[text] {
                return known
            }
            let families = RenditionTraits.families(variant.codecs)
            byText[text] = families
            return families
        }
    }

    private init(_ variant: Variant, families codecs: [String], isSeparate: Bool) {
        let hasVideo = variant.resolution != nil || codecs.contains { !Self.isAudio($0) }
        kind = .variant(hasVideo: hasVideo, isMuxed: !isSeparate)
        if isSeparate, hasVideo {
            // The codec of separate audio belongs to another rendition.
            self.codecs = codecs.filter { !Self.isAudio($0) }
        } else {
            self.codecs = codecs
        }
        range = variant.videoRange ?? "SDR"
        layout = variant.requiredVideoLayout
        frameRate = max(variant.frameRate?.value ?? Self.defaultFrameRate, 1)
        bandwidth = variant.bandwidth
        rate = variant.averageBandwidth ?? variant.bandwidth
    }

    /// - Parameters:
    ///   - codecs: CODECS of the first variant that uses the group.
    ///   - bandwidth: that of the lowest variant that uses the group.
    private init(_ media: Media, codecs: [String], bandwidth: BitRate) {
        kind = .separateAudio(
            name: media.name, language: media.language, channels: media.channels,
            characteristics: media.characteristics)
        self.codecs = Self.families(codecs).filter(Self.isAudio)
        range = "SDR"
        layout = nil
        frameRate = Self.defaultFrameRate
        self.bandwidth = bandwidth
        rate = bandwidth
    }

    var isSeparateAudio: Bool {
        guard case .separateAudio = kind else { return false }
        return true
    }

    /// The reason why the other's pieces are no substitutes: a sentence without a full stop; nil if they may be.
    func mismatch(to other: RenditionTraits) -> String? {
        if kind != other.kind {
            return "it does not carry the same: sound, language, or sound apart from pictures"
        }
        if !codecs.isEmpty, !other.codecs.isEmpty, codecs != other.codecs {
            return "it is coded as \(other.codecs.joined(separator: ", ")), not \(codecs.joined(separator: ", "))"
        }
        if range != other.range {
            return "its VIDEO-RANGE is \(other.range), not \(range)"
        }
        guard layout == other.layout else { return "it has another REQ-VIDEO-LAYOUT" }
        return nil
    }

    /// Reduces codecs to the part that must match: profiles and levels of video may differ, but not those of audio.
    private static func families(_ codecs: [String]) -> [String] {
        let families = codecs.map { codec in
            let name = String(codec.prefix { $0 != "." })
            guard !isAudio(name) else { return codec }
            return aliases[name] ?? name
        }
        return Set(families).sorted()
    }

    /// Codecs whose parameter sets may also be in the samples.
    private static let aliases = ["avc3": "avc1", "hev1": "hvc1"]

    private static func isAudio(_ codec: String) -> Bool {
        ["mp4a", "ac-3", "ec-3", "ac-4", "opus", "Opus", "fLaC", "alac", "mp3"].contains { codec.hasPrefix($0) }
    }
}
