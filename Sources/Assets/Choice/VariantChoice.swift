import HLS
import Orders

/// Chooses one variant by successive rules, each with a reason: requirements first, languages included, then minimums,
/// then preferences for dynamic range, codec and channels. The bit rate decides last.
struct VariantChoice {
    let chosen: Variant
    /// The chosen sound and subtitles, also those that are muxed into the variant.
    let media: [Media]
    /// Its advantage over the remaining variants, as text after "it has".
    let reason: String
    /// The reasons against the other variants, by index in the playlist, as text after "it".
    let reasons: [Int: String]

    /// - Parameter excluded: the variants that cannot be had, as indexes in `MultivariantPlaylist.renditionURIs`.
    init(
        _ selection: Selection, of playlist: MultivariantPlaylist, without excluded: Set<Int> = []
    ) throws(Selection.NoMatch) {
        let groups = MediaGroups(playlist)
        var round = Round(playlist, groups, without: excluded)
        let candidates = round.left
        let selection = try Self.settled(selection, among: candidates, of: playlist)
        let required = selection.requirements
        for requirement in required where !round.keep(requirement, else: "is not \(requirement)") {
            throw Self.noMatch("\(VariantPredicate.all(required))", selection, among: candidates)
        }
        round.keepSubtitles(selection.subtitles)
        round.keepSound(selection.audio)
        let minimums = selection.minimums
        // The minimums that no variant meets.
        var unmet: VariantPredicate?
        if let minimums, !round.keep(minimums, else: "is not \(minimums)") {
            unmet = minimums
        }
        var allowed = round.left
        if selection.wishes.prefersMultichannel == true {
            // Stereo is kept beside more than that, whatever the requirements say of its variant.
            let known = Set(allowed.map(\.index))
            allowed += candidates.filter {
                !known.contains($0.index) && !VariantPredicate.multichannel.admits($0, in: playlist)
            }
        }
        round.prefer(selection.wishes)
        round.preferMultichannel(selection)
        var goal = Goal(selection, hasMinimum: minimums != nil)
        if unmet != nil {
            goal = .highest
        }
        guard let picked = goal.pick(round.left) else {
            throw Selection.NoMatch(description: "the playlist has no variant")
        }
        let sound = try SoundChoice(
            selection, picked: picked, among: round.left, allowed: allowed, of: groups, prefers: goal.pick)
        let chosen = sound.variant
        for variant in round.left where variant.index != chosen.index {
            round.reasons[variant.index] = goal.reason(variant, behind: chosen)
        }
        self.chosen = chosen
        // Subtitles are listed by a variant, which plays only with its sound.
        let heard = Set(sound.sounds.map(\.groupID))
        let playing = sound.sharing.filter { $0.index == chosen.index || ($0.audio.map(heard.contains) ?? true) }
        media = sound.sounds + (try MediaChoice(selection, of: .subtitles, for: playing, in: groups).chosen)
        var reason = goal.words + sound.reason
        if let unmet {
            reason += "; none is \(unmet)"
        }
        self.reason = reason
        reasons = round.reasons
    }

    /// The selection with the first quality of its list that a variant has.
    private static func settled(
        _ selection: Selection, among candidates: [Variant], of playlist: MultivariantPlaylist
    ) throws(Selection.NoMatch) -> Selection {
        guard case .firstOf(let qualities)? = selection.quality else { return selection }
        for quality in qualities {
            var settled = selection
            settled.quality = quality
            var needed = settled.requirements
            // At the end of a list, a bit rate that no variant has means the highest one, as it does alone.
            if quality != qualities.last, let minimum = quality.minimum {
                needed.append(minimum)
            }
            let predicate = VariantPredicate.all(needed)
            if candidates.contains(where: { predicate.admits($0, in: playlist) }) {
                return settled
            }
        }
        let words = qualities.compactMap(\.requirement).map { "\($0)" }.joined(separator: " or ")
        throw noMatch(words, selection, among: candidates)
    }

    private static func noMatch(
        _ wanted: String, _ selection: Selection, among candidates: [Variant]
    ) -> Selection.NoMatch {
        Selection.NoMatch(
            description: "no variant is \(wanted); there \(list(candidates.map(\.qualityWords), "are"))",
            wayOut: selection.quality?.wayOut(among: candidates))
    }

    static func list(_ words: [String], _ verb: String = "is") -> String {
        var seen: Set<String> = []
        let distinct = words.filter { seen.insert($0).inserted }
        guard !distinct.isEmpty else { return "\(verb) none" }
        return "\(verb) " + distinct.joined(separator: ", ")
    }

    private struct Round {
        let playlist: MultivariantPlaylist
        let groups: MediaGroups
        private(set) var left: [Variant]
        var reasons: [Int: String] = [:]

        init(_ playlist: MultivariantPlaylist, _ groups: MediaGroups, without excluded: Set<Int>) {
            self.playlist = playlist
            self.groups = groups
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
        mutating func keepSubtitles(_ choice: Selection.Choice?) {
            guard case .languages(let languages)? = choice else { return }
            let groups = groups
            for language in languages {
                _ = keep(else: "has no subtitles in \"\(language)\"") { variant in
                    groups.members(of: variant, .subtitles).contains { $0.speaks(language) }
                }
            }
        }

        /// A picture stays with all of its groups if they have the languages between them.
        mutating func keepSound(_ choice: Selection.Choice?) {
            guard case .languages(let languages)? = choice else { return }
            for language in languages {
                let speaking = left.filter { groups.members(of: $0, .audio).contains { $0.speaks(language) } }
                let pictures = Set(speaking.map(\.renditionIndex))
                _ = keep(else: "has no sound in \"\(language)\"") { pictures.contains($0.renditionIndex) }
            }
        }

        mutating func prefer(_ preferences: Selection.Preferences) {
            if preferences.prefersHDR == true {
                _ = keep(.highDynamicRange, else: "is SDR, and HDR is preferred")
            }
            _ = preferences.codecs?.first { codec in keep(.codec(codec), else: "is not \(codec), which is preferred") }
        }

        /// More than stereo counts if it is in a language that is asked for.
        mutating func preferMultichannel(_ selection: Selection) {
            guard selection.wishes.prefersMultichannel == true else { return }
            var wanted: [String] = []
            if case .languages(let languages)? = selection.audio {
                wanted = languages
            }
            let groups = groups
            _ = keep(else: "has no multichannel sound, which is preferred") { variant in
                groups.members(of: variant, .audio).contains { sound in
                    sound.channelCount > 2 && (wanted.isEmpty || wanted.contains(where: sound.speaks))
                }
            }
        }
    }

    private enum Goal {
        case highest
        case lowest
        case quickest

        /// - Parameter selection: its quality is no list.
        init(_ selection: Selection, hasMinimum: Bool) {
            switch selection.quality {
            case _ where selection.wishes.isFast == true: self = .quickest
            case .best?: self = .highest
            case .worst?: self = .lowest
            case .height?, .heightAtMost?, .minimumBandwidth?, .firstOf?, nil: self = hasMinimum ? .lowest : .highest
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
            let rate = self.rate(of: variant)
            let best = self.rate(of: chosen)
            guard rate != best else {
                let wanted = self == .highest ? "higher" : "lower"
                return "has no \(wanted) bit rate"
            }
            let difference = rate > best ? "higher" : "lower"
            return "has a \(difference) bit rate"
        }

        /// The rate that this goal compares.
        private func rate(of variant: Variant) -> BitRate {
            guard self == .quickest else { return variant.bandwidth }
            return variant.averageRate
        }
    }
}

extension Selection {
    /// The conditions that the variant must meet: those of the quality first.
    fileprivate var requirements: [VariantPredicate] {
        let conditions = (conditions ?? []).map(VariantPredicate.init)
        guard let requirement = quality?.requirement else { return conditions }
        return [requirement] + conditions
    }

    fileprivate var minimums: VariantPredicate? {
        var parts: [VariantPredicate] = []
        if let minimum = quality?.minimum {
            parts.append(minimum)
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
        guard !parts.isEmpty else { return nil }
        return .all(parts)
    }
}

extension Selection.Quality {
    fileprivate var requirement: VariantPredicate? {
        switch self {
        case .height(let height): .height(.exactly(height))
        case .heightAtMost(let height): .height(.atMost(height))
        case .best, .worst, .minimumBandwidth, .firstOf: nil
        }
    }

    fileprivate var minimum: VariantPredicate? {
        guard case .minimumBandwidth(let least) = self else { return nil }
        return .peakBitRate(.atLeast(BitRate(least)))
    }

    /// The option that takes what is nearest to a height which no variant has.
    fileprivate func wayOut(among candidates: [Variant]) -> String? {
        switch self {
        case .height(let height):
            let hasLower = candidates.contains { ($0.resolution?.height ?? 0) < height }
            guard hasLower else { return "-q \(self),best" }
            return "-q '<=\(height)p', for the best below it, or -q \(self),best"
        case .heightAtMost: return "-q '\(self),worst'"
        case .firstOf: return "-q '\(self),best'"
        case .best, .worst, .minimumBandwidth: return nil
        }
    }
}

extension Variant {
    /// True if both show the same picture, as far as their attributes say.
    func hasPicture(of other: Variant) -> Bool {
        renditionIndex == other.renditionIndex
            || resolution != nil && resolution == other.resolution && videoRange == other.videoRange
                && frameRate == other.frameRate
    }

    var rank: (BitRate, Int) { (bandwidth, resolution?.height ?? 0) }
    fileprivate var averageRate: BitRate { averageBandwidth ?? bandwidth }

    fileprivate var qualityWords: String {
        guard let resolution else { return "\(bandwidth)" }
        return "\(resolution.height)p (\(bandwidth))"
    }
}
