import API
import Downloader
import Orders
import Playlist
import SafeText

extension Selection {
    init(_ request: API.SelectionRequest) {
        self.init(
            quality: request.quality.map { Quality($0) }, audio: Choice(request.audio ?? .default),
            subtitles: Choice(request.subtitles ?? .auto),
            preferences: Preferences(request.preferences ?? API.Preferences()),
            requirements: (request.conditions ?? []).map { VariantPredicate($0) })
    }
}

extension Selection.Quality {
    fileprivate init(_ quality: API.Quality) {
        switch quality {
        case .best: self = .best
        case .worst: self = .worst
        case .height(let height): self = .height(height)
        case .heightAtMost(let height): self = .heightAtMost(height)
        case .minimumBandwidth(let least): self = .minimumBandwidth(least)
        }
    }
}

extension Selection.Choice {
    fileprivate init(_ choice: API.Choice) {
        switch choice {
        case .default: self = .default
        case .auto: self = .auto
        case .all: self = .all
        case .none: self = .none
        case .languages(let languages): self = .languages(languages)
        }
    }
}

extension VariantPredicate {
    fileprivate init(_ condition: VariantCondition) {
        let (attribute, comparison) = (condition.attribute, condition.comparison)
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
            let any: Self = attribute == .range ? .videoRange(words) : .any(words.map { .codec($0) })
            self = comparison == .isNot ? .not(any) : any
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

extension Selection.Preferences {
    fileprivate init(_ preferences: API.Preferences) {
        self.init()
        minimumBitRate = preferences.minimumBitRate
        minimumWidth = preferences.minimumSize?.width
        minimumHeight = preferences.minimumSize?.height
        prefersHDR = preferences.prefersHDR ?? false
        prefersMultichannel = preferences.prefersMultichannel ?? false
        codecs = preferences.codecs ?? []
        languages = preferences.languages ?? []
        locale = preferences.locale
        isFast = preferences.isFast ?? false
        keepsInterstitials = preferences.keepsInterstitials ?? false
        keepsTrickPlay = preferences.keepsTrickPlay ?? false
    }
}

extension DownloadOrder {
    init(_ request: API.DownloadRequest) throws(APIError) {
        self.init(range: request.range?.seconds)
        selections = request.selections.map { Selection($0) }
        note = request.note
        priority = request.priority
        recordsLive = request.record ?? false
        recordSeconds = request.recordSeconds.map { Int64($0) }
        ignoresRoom = request.ignoreSpace ?? false
        isPaused = request.paused ?? false
        rules =
            try request.rules.map { rules throws(APIError) in try DownloadRules.Change(rules) }
            ?? DownloadRules.Change()
    }
}
