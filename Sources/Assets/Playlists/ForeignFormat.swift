import Fetching
import HLS
import HTTPMessage
import Origin
import SegmentFormat

/// A format that is no HLS playlist, recognised by the address or the content of a URL. Pure.
public enum ForeignFormat: Equatable, Sendable {
    /// An MPEG-DASH manifest.
    case dash
    /// A manifest of Smooth Streaming.
    case smoothStreaming
    /// An HTML page.
    case page
    /// A film or sound in one file; the text names it.
    case file(String)
    /// A film or sound that is broadcast without HLS, such as that of a radio station; the text names it.
    case broadcast(String)
    /// A playlist that names nothing.
    case nothing
    /// A channel list: the streams of many channels.
    case channels
    /// A playlist of another kind; the text names it, and `first` is the URL of its first entry.
    case list(String, first: String?)
    /// Anything else that is no stream; the text names it.
    case other(String)

    /// The format in words, with an article.
    public var name: String {
        switch self {
        case .dash: "an MPEG-DASH manifest"
        case .smoothStreaming: "a manifest of Smooth Streaming"
        case .page: "HTML, a web page"
        case .channels: "a list of channels"
        case .nothing: "a playlist that names nothing to play"
        case .file(let name), .broadcast(let name), .list(let name, _), .other(let name): name
        }
    }

    /// The next step for a user who gave the URL. `url` is quoted for a shell.
    public func nextStep(at url: String) -> String {
        switch self {
        case .dash, .smoothStreaming:
            return "Weir plays HLS only: look for the same film's .m3u8, or use: yt-dlp \(url), or: mpv \(url)"
        case .channels: return "take its channels over with: weir add \(url); or play the list in a player through Weir"
        case .nothing: return "repeat the command later: the stream may not have begun, or be over"
        case .page:
            return
                "this is a web page: with pages = \"yt-dlp\" in weir.toml Weir asks yt-dlp for its stream; once, and by hand: "
                + "yt-dlp -g \(url)"
        case .file: return "it is one file, which needs no HLS: mpv \(url) plays it, and curl -LO \(url) stores it"
        case .broadcast:
            let record = "mpv --stream-record=FILE \(url)"
            return "it is a live stream without HLS: mpv \(url) plays it, and \(record) records it"
        case .list(_, let first?):
            return "give the address of its stream, such as \(first); or play it with: mpv \(url)"
        case .list(_, nil): return "give the address of its stream; or play it with: mpv \(url)"
        case .other: return "give the address of the stream itself, which is that of a .m3u8 file"
        }
    }

    /// Recognises the format by the extension of a URL's path.
    public init?(url: String) {
        var parts = url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
        if url.contains("://") {
            // The scheme and the host are no file.
            parts.removeFirst(min(2, parts.count))
        }
        let path = parts.joined(separator: "/")
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

    /// Recognises the format by a body's first bytes, and a broadcast by a head that states no length.
    init?(body: [UInt8], of head: OriginHead) {
        guard let format = ForeignFormat(body: body) else {
            // Servers of cameras name the format, and send nothing for a while.
            guard head.mediaType?.essence == "multipart/x-mixed-replace" else { return nil }
            self = .broadcast(Self.motionJPEG)
            return
        }
        guard case .file(let name) = format, head.length == nil, head.completeLength == nil else {
            self = format
            return
        }
        self = .broadcast(name.replacing("file", with: "stream"))
    }

    private static let motionJPEG = "a series of JPEG pictures"

    /// Recognises the format by a body's first bytes.
    public init?(body: [UInt8]) {
        if let name = Self.fileName(body) {
            self = .file(name)
            return
        }
        if MediaRecognition.pictureName(body) != nil {
            self = .other("a picture")
            return
        }
        let start = String(decoding: body.prefix(2048), as: UTF8.self)
        if start.hasPrefix("--"), start.lowercased().contains("content-type: image/jpeg") {
            self = .broadcast(Self.motionJPEG)
        } else if ChannelList.isPLS(body) {
            self = .list("a PLS playlist", first: ChannelList(body).channels.first?.url)
        } else if start.lowercased().contains("<asx") {
            self = .list("an ASX playlist", first: nil)
        } else if start.contains("xspf.org/ns") {
            self = .list("an XSPF playlist", first: nil)
        } else if start.contains("<MPD") {
            self = .dash
        } else if start.contains("<SmoothStreamingMedia") {
            self = .smoothStreaming
        } else if MediaRecognition.isTextTrack(body) {
            self = .other("subtitles")
        } else if MediaSignature.imposter(in: body) == "HTML" {
            self = .page
        } else {
            return nil
        }
    }

    private static func fileName(_ body: [UInt8]) -> String? {
        let starts: [(bytes: [UInt8], offset: Int, name: String)] = [
            (Array("ftyp".utf8), 4, "an MP4 file"), (Array("styp".utf8), 4, "a fragment of an MP4 file"),
            (Array("moof".utf8), 4, "a fragment of an MP4 file"), (Array("moov".utf8), 4, "an MP4 file"),
            ([0x1A, 0x45, 0xDF, 0xA3], 0, "a WebM or Matroska file"), (Array("ID3".utf8), 0, "a sound file"),
            (Array("OggS".utf8), 0, "a sound file"), (Array("fLaC".utf8), 0, "a sound file"),
            (Array("FLV".utf8), 0, "a video file"), ([0, 0, 1, 0xBA], 0, "an MPEG program file"),
        ]
        if let found = starts.first(where: { body.dropFirst($0.offset).starts(with: $0.bytes) }) {
            return found.name
        }
        if body.starts(with: "RIFF".utf8), MediaRecognition.pictureName(body) == nil {
            return "a sound or video file"
        }
        if MediaRecognition.isTransportStream(body) {
            return "an MPEG transport stream"
        }
        // A JPEG picture begins like a frame of sound.
        guard MediaRecognition.pictureName(body) == nil, MediaRecognition.isSound(body) else { return nil }
        return "a sound file"
    }
}
