/// Stored form of a selection within a task: see `DownloadTask.version`.
extension Selection: Codable {
    private enum CodingKeys: String, CodingKey {
        case quality, audio, subtitles, preferences
    }

    /// Decodes a selection.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            quality: try values.decodeIfPresent(Quality.self, forKey: .quality),
            audio: try values.decode(Choice.self, forKey: .audio),
            subtitles: try values.decode(Choice.self, forKey: .subtitles),
            preferences: try values.decodeIfPresent(Preferences.self, forKey: .preferences) ?? Preferences())
    }

    /// Encodes a selection.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(quality, forKey: .quality)
        try values.encode(audio, forKey: .audio)
        try values.encode(subtitles, forKey: .subtitles)
        if preferences != Preferences() { try values.encode(preferences, forKey: .preferences) }
    }
}

extension Selection.Quality: Codable {
    private enum CodingKeys: String, CodingKey {
        case best, worst, height, heightAtMost, minimumBandwidth
    }

    /// Decodes an object such as `{"height": 720}`.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        if let height = try values.decodeIfPresent(Int.self, forKey: .height) {
            self = .height(height)
        } else if let height = try values.decodeIfPresent(Int.self, forKey: .heightAtMost) {
            self = .heightAtMost(height)
        } else if let bandwidth = try values.decodeIfPresent(Int.self, forKey: .minimumBandwidth) {
            self = .minimumBandwidth(bandwidth)
        } else {
            self = values.contains(.worst) ? .worst : .best
        }
    }

    /// Encodes an object such as `{"height": 720}`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .best: try values.encode(true, forKey: .best)
        case .worst: try values.encode(true, forKey: .worst)
        case .height(let height): try values.encode(height, forKey: .height)
        case .heightAtMost(let height): try values.encode(height, forKey: .heightAtMost)
        case .minimumBandwidth(let bandwidth): try values.encode(bandwidth, forKey: .minimumBandwidth)
        }
    }
}

extension Selection.Choice: Codable {
    /// Decodes `"default"`, `"all"`, `"none"`, or an array of languages.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let languages = try? value.decode([String].self) {
            self = .languages(languages)
            return
        }
        switch try value.decode(String.self) {
        case "all": self = .all
        case "none": self = .none
        default: self = .default
        }
    }

    /// Encodes the form that `init(from:)` decodes.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .default: try value.encode("default")
        case .all: try value.encode("all")
        case .none: try value.encode("none")
        case .languages(let languages): try value.encode(languages)
        }
    }
}

extension Selection.Preferences: Codable {
    private enum CodingKeys: String, CodingKey {
        case minimumBitRate, minimumWidth, minimumHeight, prefersHDR, prefersMultichannel, codecs, languages, locale,
            isFast
    }

    /// Decodes preferences; every key is optional.
    public init(from decoder: any Decoder) throws {
        self.init()
        let values = try decoder.container(keyedBy: CodingKeys.self)
        minimumBitRate = try values.decodeIfPresent(Int.self, forKey: .minimumBitRate)
        minimumWidth = try values.decodeIfPresent(Int.self, forKey: .minimumWidth)
        minimumHeight = try values.decodeIfPresent(Int.self, forKey: .minimumHeight)
        prefersHDR = try values.decodeIfPresent(Bool.self, forKey: .prefersHDR) ?? false
        prefersMultichannel = try values.decodeIfPresent(Bool.self, forKey: .prefersMultichannel) ?? false
        codecs = try values.decodeIfPresent([String].self, forKey: .codecs) ?? []
        languages = try values.decodeIfPresent([String].self, forKey: .languages) ?? []
        locale = try values.decodeIfPresent(String.self, forKey: .locale)
        isFast = try values.decodeIfPresent(Bool.self, forKey: .isFast) ?? false
    }

    /// Encodes the values that differ from those of `init()`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(minimumBitRate, forKey: .minimumBitRate)
        try values.encodeIfPresent(minimumWidth, forKey: .minimumWidth)
        try values.encodeIfPresent(minimumHeight, forKey: .minimumHeight)
        if prefersHDR { try values.encode(true, forKey: .prefersHDR) }
        if prefersMultichannel { try values.encode(true, forKey: .prefersMultichannel) }
        if !codecs.isEmpty { try values.encode(codecs, forKey: .codecs) }
        if !languages.isEmpty { try values.encode(languages, forKey: .languages) }
        try values.encodeIfPresent(locale, forKey: .locale)
        if isFast { try values.encode(true, forKey: .isFast) }
    }
}
