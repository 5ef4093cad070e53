import Orders

extension API {
    /// A key of a selection. The raw value is the option of commands (`--where`) and the key in the configuration's table
    /// `[selection]`; `field` is the key in a request. All three are read by `set`.
    package enum SelectionKey: String, CaseIterable, Sendable {
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

        /// The path of the key in a `DownloadRequest`.
        package var field: String {
            switch self {
            case .quality, .audio: rawValue
            case .conditions: "conditions"
            case .subtitles: "subtitles"
            case .minimumBitRate: "preferences.minimumBitRate"
            case .minimumSize: "preferences.minimumSize"
            case .prefersHDR: "preferences.prefersHDR"
            case .prefersMultichannel: "preferences.prefersMultichannel"
            case .codecs, .languages: "preferences.\(rawValue)"
            case .isFast: "preferences.isFast"
            case .keepsInterstitials: "preferences.keepsInterstitials"
            case .keepsTrickPlay: "preferences.keepsTrickPlay"
            }
        }

        /// Sets the key in a selection. Without values, or with one empty value, the key is left out.
        ///
        /// - Parameter values: texts as on a command line. Only `where` takes more than one text with meaning of its own;
        ///   those of other keys are joined to a list.
        package func set(_ values: [String], in selection: inout SelectionRequest) throws(Mistake) {
            let values = values == [""] ? [] : values
            let text = values.isEmpty ? nil : values.joined(separator: ",")
            var preferences = selection.preferences ?? Preferences()
            switch self {
            case .quality: selection.quality = try text.map(Self.quality)
            case .conditions: selection.conditions = values.isEmpty ? nil : try values.map(Self.condition)
            case .audio: selection.audio = try text.map(Self.choice)
            case .subtitles: selection.subtitles = try text.map(Self.choice)
            case .minimumBitRate: preferences.minimumBitRate = try text.map(Self.bitRate)
            case .minimumSize: preferences.minimumSize = try text.map(Self.size)
            case .prefersHDR: preferences.prefersHDR = try text.map(Self.truth)
            case .prefersMultichannel: preferences.prefersMultichannel = try text.map(Self.truth)
            case .codecs: preferences.codecs = try text.map(Self.codecList)
            case .languages: preferences.languages = try text.map(Self.languageList)
            case .isFast: preferences.isFast = try text.map(Self.truth)
            case .keepsInterstitials: preferences.keepsInterstitials = try text.map(Self.truth)
            case .keepsTrickPlay: preferences.keepsTrickPlay = try text.map(Self.truth)
            }
            selection.preferences = preferences == Preferences() ? nil : preferences
        }

        // MARK: Reading

        private static func quality(_ text: String) throws(Mistake) -> Quality {
            if let quality = Quality(text) { return quality }
            if let height = Quality.meantHeight(text) {
                throw Mistake(
                    description: "no variant has only \(text) bits per second: did you mean \(height)p?")
            }
            throw Mistake(
                description: "\"\(text)\" is not a quality such as best, worst, 720p, <=1080p, 2M or 265000")
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

extension API.SelectionRequest {
    /// The selection, with defaults for the keys that it leaves out.
    ///
    /// `quality`, `min-bitrate`, `min-size` and `fast` decide on one matter, so one of them replaces the defaults of all four.
    package func with(defaults: API.SelectionRequest) -> API.SelectionRequest {
        var (all, own) = (self, preferences ?? API.Preferences())
        let base = defaults.preferences ?? API.Preferences()
        all.conditions = conditions ?? defaults.conditions
        all.audio = audio ?? defaults.audio
        all.subtitles = subtitles ?? defaults.subtitles
        if quality == nil, own.minimumBitRate == nil, own.minimumSize == nil, own.isFast == nil {
            all.quality = defaults.quality
            (own.minimumBitRate, own.minimumSize, own.isFast) = (base.minimumBitRate, base.minimumSize, base.isFast)
        }
        own.prefersHDR = own.prefersHDR ?? base.prefersHDR
        own.prefersMultichannel = own.prefersMultichannel ?? base.prefersMultichannel
        own.codecs = own.codecs ?? base.codecs
        own.languages = own.languages ?? base.languages
        own.keepsInterstitials = own.keepsInterstitials ?? base.keepsInterstitials
        own.keepsTrickPlay = own.keepsTrickPlay ?? base.keepsTrickPlay
        all.preferences = own == API.Preferences() ? nil : own
        return all
    }
}

extension API.DownloadRequest {
    /// The request, with defaults for the keys that its selections leave out.
    package func with(defaults: API.SelectionRequest) -> API.DownloadRequest {
        var all = self
        let first = selections[0].with(defaults: defaults)
        (all.quality, all.audio, all.subtitles) = (first.quality, first.audio, first.subtitles)
        (all.preferences, all.conditions) = (first.preferences, first.conditions)
        all.additional = additional?.map { $0.with(defaults: defaults) }
        return all
    }
}
