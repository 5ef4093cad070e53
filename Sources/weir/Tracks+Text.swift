import Control

extension API.Variant {
    /// `720p`; of sound alone `audio`; nil when the playlist does not say.
    var quality: String? {
        if let height { return "\(height)p" }
        return isSoundAlone ? "audio" : nil
    }

    private var isSoundAlone: Bool {
        guard let codecs, !codecs.isEmpty else { return false }
        let sound = ["mp4a", "ac-3", "ec-3", "ac-4", "alac", "fLaC", "Opus", "opus"]
        return codecs.split(separator: ",").allSatisfy { codec in sound.contains { codec.contains($0) } }
    }

    /// `avc1`: the first codec, without its profile.
    var shortCodec: String? { codecs?.split(separator: ",").first?.split(separator: ".").first.map(String.init) }

    /// `720p avc1 2.1 Mb/s`.
    var summary: String {
        let parts = [quality, shortCodec, bandwidth.map(Format.bandwidth)]
        return parts.compactMap(\.self).joined(separator: " ")
    }
}

extension API.Rendition {
    /// `en`, or what the playlist calls it.
    var shortName: String { language ?? name }
}

extension API.Tracks {
    /// `720p avc1 2.1 Mb/s + audio en + subs en`.
    var summary: String {
        let all =
            variants.map(\.summary).filter { !$0.isEmpty } + audio.map { "audio \($0.shortName)" }
            + subtitles.map { "subs \($0.shortName)" }
        return all.joined(separator: " + ")
    }

    /// `720p`, `1080p`, `audio fr`, `subs en`: what could be asked for, each once.
    var choices: [String] {
        var seen: Set<String> = []
        let all =
            variants.map { $0.quality ?? $0.id } + audio.map { "audio \($0.shortName)" }
            + subtitles.map { "subs \($0.shortName)" }
        return all.filter { seen.insert($0).inserted }
    }

    /// The highest quality that is stored whole; where none is, the highest of which something is.
    var storedQuality: String? {
        let whole = variants.filter { $0.local == .complete }
        let stored = whole.isEmpty ? variants.filter { $0.local != .none } : whole
        return stored.max { ($0.height ?? 0, $0.bandwidth ?? 0) < ($1.height ?? 0, $1.bandwidth ?? 0) }?.quality
    }
}

extension API.Local {
    /// A word for a table.
    var word: String { self == .none ? "–" : rawValue }
}

/// A size of which a part is stored: `240 MB`, `151 of about 240 MB`, `about 240 MB`, `–`.
func storedSize(bytes: Int, of estimate: Int?, local: API.Local) -> String {
    switch (local, estimate) {
    case (.complete, _): Format.bytes(bytes)
    case (.none, let estimate?): Format.estimate(estimate)
    case (.none, nil): "–"
    case (.partly, let estimate?) where estimate > bytes: "\(Format.bytes(bytes)) of \(Format.estimate(estimate))"
    case (.partly, _): Format.bytes(bytes)
    }
}
