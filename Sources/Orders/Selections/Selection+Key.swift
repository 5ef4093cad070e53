extension Selection {
    /// A key of a selection. The raw value is the option of commands (`--where`) and the key in the configuration's table
    /// `[selection]`; `set` reads the values of both.
    package enum Key: String, CaseIterable, Sendable {
        case quality
        case conditions = "where"
        case audio
        case subtitles = "subs"
        case minimumBitRate = "min-bitrate"
        case minimumSize = "min-size"
        case prefersHDR = "prefer-hdr"
        case prefersMultichannel = "prefer-multichannel"
        case codecs
        case languages
        case isFast = "fast"
        case keepsInterstitials = "interstitials"
        case keepsTrickPlay = "trick-play"

        /// The types of values in the configuration.
        package enum Kind: Sendable {
            case text
            case list
            case truth
        }

        /// The fault of a value, as a sentence.
        package struct Mistake: Error, Equatable, CustomStringConvertible {
            package let description: String
        }

        package var kind: Kind {
            switch self {
            case .quality, .minimumBitRate, .minimumSize: .text
            case .audio, .subtitles, .conditions, .codecs, .languages: .list
            case .prefersHDR, .prefersMultichannel, .isFast, .keepsInterstitials, .keepsTrickPlay: .truth
            }
        }

        /// Sets the key in a selection. Without values, or with one empty value, the key is left out.
        ///
        /// - Parameter values: texts as on a command line. Only `where` takes more than one text with meaning of its own;
        ///   those of other keys are joined to a list.
        package func set(_ values: [String], in selection: inout Selection) throws(Mistake) {
            var given: [String]? = values
            if values.isEmpty || values == [""] {
                given = nil
            }
            let text = given?.joined(separator: ",")
            switch self {
            case .quality: selection.quality = try text.map(Self.quality)
            case .conditions: selection.conditions = try given?.map(Self.condition)
            case .audio: selection.audio = try text.map(Self.choice)
            case .subtitles: selection.subtitles = try text.map(Self.choice)
            case .minimumBitRate: selection.wishes.minimumBitRate = try text.map(Self.bitRate)
            case .minimumSize: selection.wishes.minimumSize = try text.map(Self.size)
            case .prefersHDR: selection.wishes.prefersHDR = try text.map(Self.truth)
            case .prefersMultichannel: selection.wishes.prefersMultichannel = try text.map(Self.truth)
            case .codecs: selection.wishes.codecs = try text.map(Self.codecList)
            case .languages: selection.wishes.languages = try text.map(Self.languageList)
            case .isFast: selection.wishes.isFast = try text.map(Self.truth)
            case .keepsInterstitials: selection.wishes.keepsInterstitials = try text.map(Self.truth)
            case .keepsTrickPlay: selection.wishes.keepsTrickPlay = try text.map(Self.truth)
            }
        }

        // MARK: Reading

        private static func quality(_ text: String) throws(Mistake) -> Quality {
            if let quality = Quality(text) {
                return quality
            }
            if let height = Quality.meantHeight(text) {
                throw Mistake(
                    description: "no variant has only \(text) bits per second: did you mean \(height)p?")
            }
            throw Mistake(
                description:
                    "\"\(text)\" is not a quality such as best, worst, 720p, <=1080p, 2M or 265000, or a list such as 720p,best"
            )
        }

        private static func condition(_ text: String) throws(Mistake) -> VariantCondition {
            do throws(VariantCondition.Mistake) {
                return try VariantCondition(text)
            } catch {
                throw Mistake(description: error.description)
            }
        }

        private static func choice(_ text: String) throws(Mistake) -> Choice {
            guard let choice = Choice(text) else {
                throw Mistake(description: "\"\(text)\" is not default, auto, all, none, or languages such as en,ja")
            }
            return choice
        }

        private static func bitRate(_ text: String) throws(Mistake) -> Int {
            guard case .minimumBandwidth(let rate)? = Quality(text) else {
                throw Mistake(description: "\"\(text)\" is not a bit rate such as 2M, 800k or 265000")
            }
            return rate
        }

        private static func size(_ text: String) throws(Mistake) -> Size {
            guard let size = Size(text) else {
                throw Mistake(description: "\"\(text)\" is not a size such as 1280x720 or 720p")
            }
            return size
        }

        private static func truth(_ text: String) throws(Mistake) -> Bool {
            guard text == "true" || text == "false" else {
                throw Mistake(description: "\"\(text)\" is not true or false")
            }
            return text == "true"
        }

        private static func codecList(_ text: String) throws(Mistake) -> [String] {
            let codecs = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard codecs.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else {
                throw Mistake(description: "\"\(text)\" is not a list of codecs such as avc1,hvc1")
            }
            return codecs
        }

        private static func languageList(_ text: String) throws(Mistake) -> [String] {
            guard case .languages(let tags)? = Choice(text) else {
                throw Mistake(description: "\"\(text)\" is not a list of languages such as en,ja")
            }
            return tags
        }
    }
}

extension Selection {
    /// The selection, with defaults for the keys that it leaves out.
    ///
    /// `quality`, `min-bitrate`, `min-size` and `fast` decide on one matter, so one of them replaces the defaults of all four.
    package func with(defaults: Selection) -> Selection {
        var all = self
        all.conditions = conditions ?? defaults.conditions
        all.audio = audio ?? defaults.audio
        all.subtitles = subtitles ?? defaults.subtitles

        var own = wishes
        let base = defaults.wishes
        if quality == nil, own.minimumBitRate == nil, own.minimumSize == nil, own.isFast == nil {
            all.quality = defaults.quality
            own.minimumBitRate = base.minimumBitRate
            own.minimumSize = base.minimumSize
            own.isFast = base.isFast
        }
        own.prefersHDR = own.prefersHDR ?? base.prefersHDR
        own.prefersMultichannel = own.prefersMultichannel ?? base.prefersMultichannel
        own.codecs = own.codecs ?? base.codecs
        own.languages = own.languages ?? base.languages
        own.keepsInterstitials = own.keepsInterstitials ?? base.keepsInterstitials
        own.keepsTrickPlay = own.keepsTrickPlay ?? base.keepsTrickPlay
        all.wishes = own
        return all
    }

    /// The selection, with what it leaves out as in an earlier one for the same asset.
    ///
    /// The keys that decide on the picture belong together: one of them in this selection replaces all of the earlier one. A preferred
    /// language asks for other sound, so that the earlier sound does not count then.
    package func with(earlier: Selection) -> Selection {
        var all = self
        var own = wishes
        let base = earlier.wishes
        if !choosesVariant {
            all.quality = earlier.quality
            all.conditions = earlier.conditions
            own.minimumBitRate = base.minimumBitRate
            own.minimumSize = base.minimumSize
            own.isFast = base.isFast
            own.prefersHDR = base.prefersHDR
            own.prefersMultichannel = base.prefersMultichannel
            own.codecs = base.codecs
        }
        if audio == nil, own.languages == nil {
            all.audio = earlier.audio
            own.languages = base.languages
            own.locale = base.locale
        }
        all.subtitles = subtitles ?? earlier.subtitles
        own.keepsInterstitials = own.keepsInterstitials ?? base.keepsInterstitials
        own.keepsTrickPlay = own.keepsTrickPlay ?? base.keepsTrickPlay
        all.wishes = own
        return all
    }
}
