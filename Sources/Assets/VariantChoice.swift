import HLS
import Orders

/// Chooses one variant by successive rules, each with a reason: requirements first, languages included, then minimums,
/// then preferences for dynamic range, codec and channels. The bit rate decides last.
struct VariantChoice {
    let chosen: Variant
    /// Its advantage over the remaining variants, as text after "it has".
    let reason: String
    /// The reasons against the other variants, by index in the playlist, as text after "it".
    let reasons: [Int: String]

    /// - Parameter excluded: the variants that cannot be had, as indexes in `MultivariantPlaylist.renditionURIs`.
    init(
        _ selection: Selection, of playlist: MultivariantPlaylist, without excluded: Set<Int> = []
    ) throws(Selection.NoMatch) {
        var round = Round(playlist, without: excluded)
        let candidates = round.left
        let required = selection.requirements
        for requirement in required where !round.keep(requirement, else: "is not \(requirement)") {
            let all = VariantPredicate.all(required)
            throw Selection.NoMatch(
                description: "no variant is \(all); there \(Self.list(candidates.map(\.qualityWords), "are"))")
        }
        round.keepLanguages(selection.audio, .audio, "sound")
        round.keepLanguages(selection.subtitles, .subtitles, "subtitles")
        let minimums = selection.minimums
        let unmet = minimums.flatMap { round.keep($0, else: "is not \($0)") ? nil : $0 }
        round.prefer(selection.wishes)
        let goal = unmet == nil ? Goal(selection, hasMinimum: minimums != nil) : .highest
        guard let picked = goal.pick(round.left) else {
            throw Selection.NoMatch(description: "the playlist has no variant")
        }
        let alike = selection.alike(picked, among: round.left, of: playlist)
        let chosen = alike.contains { $0.index == picked.index } ? picked : goal.pick(alike) ?? picked
        for variant in round.left where variant.index != chosen.index {
            round.reasons[variant.index] = goal.reason(variant, behind: chosen)
        }
        self.chosen = chosen
        let isUnderstood = selection.isSpoken(picked, of: playlist)
        let sound =
            chosen.index == picked.index ? "" : isUnderstood ? " of those in stereo" : " of those in your language"
        reason = goal.words + sound + (unmet.map { "; none is \($0)" } ?? "")
        reasons = round.reasons
    }

    static func list(_ words: [String], _ verb: String = "is") -> String {
        var seen: Set<String> = []
        let distinct = words.filter { seen.insert($0).inserted }
        return distinct.isEmpty ? "\(verb) none" : "\(verb) " + distinct.joined(separator: ", ")
    }

    private struct Round {
        let playlist: MultivariantPlaylist
        private(set) var left: [Variant]
        var reasons: [Int: String] = [:]

        init(_ playlist: MultivariantPlaylist, without excluded: Set<Int>) {
            self.playlist = playlist
            left = playlist.variants.filter { !excluded.contains($0.renditionIndex) }.sorted { $0.rank < $1.rank }
            _ = keep(.picture, else: "has no RESOLUTION, as sound alone")
        }

        /// Excludes the variants that fail a condition; if all do, excludes none and returns false.
        mutating func keep(_ predicate: VariantPredicate, else reason: String) -> Bool {
            let playlist = playlist
            return keep(else: reason) { predicate.admits($0, in: playlist) }
        }

        private mutating func keep(else reason: String, where isKept: (Variant) -> Bool) -> Bool {
            let kept = left.filter(isKept)
            guard !kept.isEmpty else { return false }
            for variant in left where !isKept(variant) {
                reasons[variant.index] = reason
            }
            left = kept
            return true
        }

        /// A language that no variant has is reported when renditions are chosen.
        mutating func keepLanguages(_ choice: Selection.Choice?, _ type: Media.Kind, _ kind: String) {
            guard case .languages(let languages)? = choice else { return }
            let playlist = playlist
            for language in languages {
                _ = keep(else: "has no \(kind) in \"\(language)\"") { variant in
                    playlist.members(of: variant.group(type), type).contains { $0.speaks(language) }
                }
            }
        }

        mutating func prefer(_ preferences: Selection.Preferences) {
            if preferences.prefersHDR == true {
                _ = keep(.highDynamicRange, else: "is SDR, and HDR is preferred")
            }
            _ = preferences.codecs?.first { codec in keep(.codec(codec), else: "is not \(codec), which is preferred") }
            if preferences.prefersMultichannel == true {
                _ = keep(.multichannel, else: "has no multichannel sound, which is preferred")
            }
        }
    }

    private enum Goal {
        case highest
        case lowest
        case quickest

        init(_ selection: Selection, hasMinimum: Bool) {
            switch selection.quality {
            case _ where selection.wishes.isFast == true: self = .quickest
            case .best?: self = .highest
            case .worst?: self = .lowest
            case .height?, .heightAtMost?, .minimumBandwidth?, nil: self = hasMinimum ? .lowest : .highest
            }
        }

        func pick(_ ascending: [Variant]) -> Variant? {
            switch self {
            case .highest: ascending.last
            case .lowest: ascending.first
            case .quickest: ascending.min { $0.averageRate < $1.averageRate }
            }
        }

        var words: String {
            switch self {
            case .highest: "the highest bit rate"
            case .lowest: "the lowest bit rate"
            case .quickest: "the fewest bits to fetch"
            }
        }

        func reason(_ variant: Variant, behind chosen: Variant) -> String {
            if variant.renditionIndex == chosen.renditionIndex {
                return "is the same video with other groups"
            }
            let (rate, best) =
                self == .quickest
                ? (variant.averageRate, chosen.averageRate) : (variant.bandwidth, chosen.bandwidth)
            guard rate != best else { return "has no \(self == .highest ? "higher" : "lower") bit rate" }
            return "has a \(rate > best ? "higher" : "lower") bit rate"
        }
    }
}

extension Selection {
    /// Returns the variants with the picture of `picked` that have the user's language, and stereo where nobody asked for
    /// more: several variants may differ only in the groups of their sound. Without such a one, those with its own video.
    fileprivate func alike(_ picked: Variant, among variants: [Variant], of playlist: MultivariantPlaylist) -> [Variant]
    {
        guard [.default, .auto].contains(audio ?? .default), picked.audio != nil else { return [picked] }
        let own = variants.filter { $0.renditionIndex == picked.renditionIndex }
        var spoken = own.filter { isSpoken($0, of: playlist) }
        if spoken.isEmpty {
            spoken = variants.filter { $0.hasPicture(of: picked) && isSpoken($0, of: playlist) }
        }
        let left = spoken.isEmpty ? own : spoken
        let plain = left.filter { sound(of: $0, in: playlist).map { $0.channelCount <= 2 } ?? false }
        return wishes.prefersMultichannel == true || plain.isEmpty ? left : plain
    }

    private func sound(of variant: Variant, in playlist: MultivariantPlaylist) -> Media? {
        (try? MediaChoice(self, of: .audio, for: variant, in: playlist))?.chosen.first
    }

    /// True if the sound that is chosen for a variant is in the user's language, or nothing is known of that.
    fileprivate func isSpoken(_ variant: Variant, of playlist: MultivariantPlaylist) -> Bool {
        sound(of: variant, in: playlist).map { $0.isSpoken(by: wishes) } ?? false
    }

    /// The conditions that the variant must meet: those of the quality first.
    fileprivate var requirements: [VariantPredicate] {
        let conditions = (conditions ?? []).map { VariantPredicate($0) }
        guard let requirement = quality?.requirement else { return conditions }
        return [requirement] + conditions
    }

    fileprivate var minimums: VariantPredicate? {
        var parts: [VariantPredicate] = []
        if case .minimumBandwidth(let least)? = quality {
            parts.append(.peakBitRate(.atLeast(BitRate(least))))
        }
        if let least = wishes.minimumBitRate {
            parts.append(.peakBitRate(.atLeast(BitRate(least))))
        }
        if let least = wishes.minimumSize?.width {
            parts.append(.width(.atLeast(least)))
        }
        if let least = wishes.minimumSize?.height {
            parts.append(.height(.atLeast(least)))
        }
        return parts.isEmpty ? nil : .all(parts)
    }
}

extension Selection.Quality {
    fileprivate var requirement: VariantPredicate? {
        switch self {
        case .height(let height): .height(.exactly(height))
        case .heightAtMost(let height): .height(.atMost(height))
        case .best, .worst, .minimumBandwidth: nil
        }
    }
}

extension Variant {
    /// True if both show the same picture, as far as their attributes say.
    fileprivate func hasPicture(of other: Variant) -> Bool {
        renditionIndex == other.renditionIndex
            || resolution != nil && resolution == other.resolution && videoRange == other.videoRange
                && frameRate == other.frameRate
    }

    fileprivate var rank: (BitRate, Int) { (bandwidth, resolution?.height ?? 0) }
    fileprivate var averageRate: BitRate { averageBandwidth ?? bandwidth }

    fileprivate var qualityWords: String {
        resolution.map { "\($0.height)p (\(bandwidth))" } ?? "\(bandwidth)"
    }
}
