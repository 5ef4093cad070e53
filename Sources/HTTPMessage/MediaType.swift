/// A media type as in Content-Type (RFC 9110 §8.3).
public struct MediaType: Sendable, Hashable, CustomStringConvertible {
    let text: String
    private init(known text: String) { self.text = text }

    /// Wraps a type from an origin; nil when it is not allowed in a header field or has no slash.
    public init?(_ text: String) {
        guard !text.isEmpty, text.contains("/"), text.utf8.allSatisfy({ ByteClass.isFieldValue($0) && $0 < 0x80 })
        else {
            return nil
        }
        self.text = text
    }

    /// The type of a file by its extension, without the dot and in any case; `application/octet-stream` for unknown ones.
    public init(forExtension fileExtension: String) { self = Self.known(fileExtension.lowercased()) }

    /// The type of the last path component's extension.
    public init(forPath path: String) {
        var name = path[...]
        if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            name = path[path.utf8.index(after: slash)...]
        }
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")) else {
            self.init(forExtension: "")
            return
        }
        self.init(forExtension: String(name[name.utf8.index(after: dot)...]))
    }

    /// The whole value.
    public var description: String { text }

    /// The type and subtype in lower case, without parameters.
    public var essence: String {
        let bare = text.prefix { $0 != ";" }.lowercased()
        return String(bare.drop { $0 == " " }.prefix { $0 != " " && $0 != "\t" })
    }

    private static func known(_ fileExtension: String) -> MediaType {
        switch fileExtension {
        case "m3u8", "m3u": .playlist
        case "ts", "m2ts", "mts": .mpegTS
        case "mp4", "m4s", "m4v", "cmfv", "mpg4": .mp4
        case "m4a", "cmfa": MediaType(known: "audio/mp4")
        case "cmft": MediaType(known: "application/mp4")
        case "aac": MediaType(known: "audio/aac")
        case "mp3": MediaType(known: "audio/mpeg")
        case "ac3": MediaType(known: "audio/ac3")
        case "ec3", "eac3": MediaType(known: "audio/eac3")
        case "vtt", "webvtt": .webVTT
        case "json": .json
        case "txt", "log": .text
        case "html", "htm": .html
        case "css": MediaType(known: "text/css; charset=utf-8")
        case "js", "mjs": MediaType(known: "text/javascript; charset=utf-8")
        case "svg": MediaType(known: "image/svg+xml")
        case "png": MediaType(known: "image/png")
        case "jpg", "jpeg": MediaType(known: "image/jpeg")
        case "webp": MediaType(known: "image/webp")
        case "ico": MediaType(known: "image/x-icon")
        default: .octetStream
        }
    }

    /// A playlist (RFC 8216 §10). Every player accepts this spelling for HLS.
    public static let playlist = MediaType(known: "application/vnd.apple.mpegurl")
    /// A channel list, as VLC, Kodi and televisions read it.
    public static let channelList = MediaType(known: "audio/x-mpegurl")
    /// An MPEG-2 transport stream.
    public static let mpegTS = MediaType(known: "video/mp2t")
    /// Fragmented MP4.
    public static let mp4 = MediaType(known: "video/mp4")
    /// WebVTT, which is UTF-8 by definition.
    public static let webVTT = MediaType(known: "text/vtt")
    /// JSON, which is UTF-8 by definition.
    public static let json = MediaType(known: "application/json")
    /// Plain text for a person.
    public static let text = MediaType(known: "text/plain; charset=utf-8")
    /// An HTML page.
    public static let html = MediaType(known: "text/html; charset=utf-8")
    /// Keys, and files with an unknown extension.
    public static let octetStream = MediaType(known: "application/octet-stream")
}
