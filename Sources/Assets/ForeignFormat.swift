import Fetching

/// A format that is no HLS playlist, recognised by the address or the content of a URL. Pure.
public enum ForeignFormat: Equatable, Sendable {
    /// An MPEG-DASH manifest.
    case dash
    /// A manifest of Smooth Streaming.
    case smoothStreaming
    /// An HTML page.
    case page
    /// A film or sound in one file or one endless stream; the text names it.
    case file(String)

    /// The format in words, with an article.
    public var name: String {
        switch self {
        case .dash: "an MPEG-DASH manifest"
        case .smoothStreaming: "a manifest of Smooth Streaming"
        case .page: "HTML, a web page"
        case .file(let name): name
        }
    }

    /// The next step for a user who gave the URL. `url` is quoted for a shell.
    public func nextStep(at url: String) -> String {
        switch self {
        case .dash, .smoothStreaming:
            "Weir plays HLS only: look for the same film's .m3u8, or use: yt-dlp \(url), or: mpv \(url)"
        case .page: "this is a web page; yt-dlp -g \(url) may find the stream"
        case .file: "it is one file, which needs no HLS: mpv \(url) plays it, and curl -LO \(url) stores it"
        }
    }

    /// Recognises the format by the extension of a URL's path.
    public init?(url: String) {
        let parts = url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        // The scheme and the host are no file.
        let path = parts.dropFirst(url.contains("://") ? 2 : 0).joined(separator: "/")
        let file = path.split(separator: "/").last ?? ""
        guard let dot = file.lastIndex(of: ".") else {
            if path.lowercased().contains(".ism/manifest") {
                self = .smoothStreaming
            } else {
                return nil
            }
            return
        }
        switch file[file.index(after: dot)...].lowercased() {
        case "mpd": self = .dash
        case "mp4", "m4v", "mov": self = .file("an MP4 file")
        case "mkv", "webm": self = .file("a WebM or Matroska file")
        case "avi", "flv", "wmv": self = .file("a video file")
        case "ts", "m2ts": self = .file("an MPEG transport stream")
        case "mp3", "m4a", "aac", "ogg", "opus", "flac", "wav": self = .file("a sound file")
        default: return nil
        }
    }

    /// Recognises the format by a body's first bytes.
    public init?(body: [UInt8]) {
        let starts: [([UInt8], Int, String)] = [
            (Array("ftyp".utf8), 4, "an MP4 file"), (Array("styp".utf8), 4, "a fragment of an MP4 file"),
            ([0x1A, 0x45, 0xDF, 0xA3], 0, "a WebM or Matroska file"), (Array("ID3".utf8), 0, "a sound file"),
            (Array("OggS".utf8), 0, "a sound file"), (Array("fLaC".utf8), 0, "a sound file"),
            (Array("RIFF".utf8), 0, "a sound or video file"), (Array("FLV".utf8), 0, "a video file"),
        ]
        if let found = starts.first(where: { body.dropFirst($0.1).starts(with: $0.0) }) {
            self = .file(found.2)
            return
        }
        if body.count > 376, body[0] == 0x47, body[188] == 0x47, body[376] == 0x47 {
            self = .file("an MPEG transport stream")
            return
        }
        let start = String(decoding: body.prefix(2048), as: UTF8.self)
        if start.contains("<MPD") {
            self = .dash
        } else if start.contains("<SmoothStreamingMedia") {
            self = .smoothStreaming
        } else if MediaSignature.imposter(in: body) == "HTML" {
            self = .page
        } else {
            return nil
        }
    }
}
