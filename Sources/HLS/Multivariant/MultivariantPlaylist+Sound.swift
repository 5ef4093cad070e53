extension MultivariantPlaylist {
    /// The codec without its profile of each group of sound, such as `mp4a`, if its variants name one alone. EXT-X-MEDIA has no CODECS.
    public var soundCodecs: [String: String] {
        var found: [String: Set<String>] = [:]
        for variant in variants {
            guard let group = variant.audio else { continue }
            found[group, default: []].formUnion(variant.soundCodecs)
        }
        return found.compactMapValues { codecs in
            guard codecs.count == 1 else { return nil }
            return codecs.first
        }
    }
}

extension Variant {
    private static let soundCodecs: Set<String> = [
        "mp4a", "ac-3", "ec-3", "ac-4", "opus", "flac", "fLaC", "Opus", "alac", "mp3",
    ]

    /// The codecs of its sound, without profiles.
    fileprivate var soundCodecs: [String] {
        codecs.map { codec in String(codec.prefix { $0 != "." }) }.filter(Self.soundCodecs.contains)
    }
}
