// The room Orders.
//
// Duty: the words of an order, one shape from the command line to the catalogue: selection, quality, tracks, rules,
//     policy, priority, state.
// Entrance: `Selection`, and one type for each other word. Each encodes itself, and is read from text here alone.
// Does not enter: what carries an order out: assets, downloads, HTTP.

/// The content that an order selects: one variant, and renditions of its groups. Absent keys are left to the configuration.
package struct Selection: Codable, Equatable, Sendable {
    /// The variant; absent for the best, or for the lowest that meets the minimums of `preferences`.
    package var quality: Quality?
    /// The audio renditions; absent for `default`.
    package var audio: Choice?
    /// The subtitle renditions; absent for `auto`.
    package var subtitles: Choice?
    package var preferences: Preferences?
    /// Conditions that the variant must meet, all of them.
    package var conditions: [VariantCondition]?

    package init(
        quality: Quality? = nil, audio: Choice? = nil, subtitles: Choice? = nil,
        preferences: Preferences? = nil, conditions: [VariantCondition]? = nil
    ) {
        self.quality = quality
        self.audio = audio
        self.subtitles = subtitles
        self.preferences = preferences
        self.conditions = conditions
    }

    /// The preferences, each of them open if there are none. They are left out if each is open.
    package var wishes: Preferences {
        get { preferences ?? Preferences() }
        set {
            let isOpen = newValue == Preferences()
            preferences = isOpen ? nil : newValue
        }
    }

    /// Takes over the keys that another selection has.
    package mutating func adopt(_ other: Selection) {
        quality = other.quality ?? quality
        audio = other.audio ?? audio
        subtitles = other.subtitles ?? subtitles
        preferences = other.preferences ?? preferences
        conditions = other.conditions ?? conditions
    }

    /// The contradiction in the selection, as a sentence that names the field to leave out; nil if there is none.
    package var contradiction: String? {
        guard let quality, let preferences else { return nil }
        return Self.contradiction(of: quality, preferences)
    }

    private static func contradiction(of quality: Quality, _ preferences: Preferences) -> String? {
        if preferences.isFast == true, quality == .best {
            return "the best quality is not the fastest download: give only one of the two"
        }
        switch quality {
        case .worst where preferences.minimumBitRate != nil || preferences.minimumSize != nil:
            return "the worst quality has no minimum: give only one of the two"
        case .minimumBandwidth where preferences.minimumBitRate != nil:
            return "the quality \(quality) is already a minimum bit rate: give only one of the two"
        case .height(let height), .heightAtMost(let height):
            guard let size = preferences.minimumSize, size.height > height else { return nil }
            return "no variant of the quality \(quality) has the minimum size \(size): give only one of the two"
        case .firstOf(let qualities): return qualities.lazy.compactMap { contradiction(of: $0, preferences) }.first
        default: return nil
        }
    }
}
