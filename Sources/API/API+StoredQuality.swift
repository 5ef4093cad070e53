extension API.Variant {
    /// `720p`; of sound alone `audio`; nil when the playlist does not say.
    public var quality: String? {
        if let height { return "\(height)p" }
        return isSoundAlone ? "audio" : nil
    }

    private var isSoundAlone: Bool {
        guard let codecs, !codecs.isEmpty else { return false }
        let sound = ["mp4a", "ac-3", "ec-3", "ac-4", "alac", "fLaC", "Opus", "opus"]
        return codecs.split(separator: ",").allSatisfy { codec in sound.contains { codec.contains($0) } }
    }
}

extension API.Tracks {
    /// The highest quality that is stored whole; where none is, the highest of which something is.
    public var storedQuality: String? {
        let whole = variants.filter { $0.local == .complete }
        let stored = whole.isEmpty ? variants.filter { $0.local != .none } : whole
        return stored.max { ($0.height ?? 0, $0.bandwidth ?? 0) < ($1.height ?? 0, $1.bandwidth ?? 0) }?.quality
    }
}
