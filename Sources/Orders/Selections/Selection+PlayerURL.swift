/// The selection in a player's URL, such as `quality=720p&audio=de`. A key that is left out leaves all that the presentation has.
extension Selection {
    /// The keys that choose what plays. The others are about what is saved beside it.
    package static let playingKeys = Key.allCases.filter { $0 != .keepsInterstitials && $0 != .keepsTrickPlay }

    /// Reads the text of a player's URL, whose percent-encoding is decoded already.
    package init(playing text: String) throws(Key.Mistake) {
        self.init()
        var values: [Key: [String]] = [:]
        for pair in text.split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            guard let key = Key(rawValue: String(name)), Self.playingKeys.contains(key) else {
                let names = Self.playingKeys.map(\.rawValue).joined(separator: ", ")
                throw Key.Mistake(description: "\"\(name)\" is not one of \(names)")
            }
            values[key, default: []].append(String(pair.dropFirst(name.count + 1)))
        }
        for key in Self.playingKeys {
            if let texts = values[key] {
                try key.set(texts, in: &self)
            }
        }
        guard self != Selection() else { throw Key.Mistake(description: "it chooses nothing, such as quality=720p") }
        if let contradiction {
            throw Key.Mistake(description: contradiction)
        }
    }

    /// True if it chooses one variant; otherwise all variants stay.
    package var choosesVariant: Bool {
        let isPreferred = wishes.prefersHDR == true || wishes.prefersMultichannel == true || wishes.isFast == true
        let hasMinimum = wishes.minimumBitRate != nil || wishes.minimumSize != nil
        return quality != nil || conditions != nil || wishes.codecs != nil || isPreferred || hasMinimum
    }

    /// True if it chooses among the sound.
    package var choosesAudio: Bool { audio != nil || wishes.languages != nil || wishes.prefersMultichannel == true }
}
