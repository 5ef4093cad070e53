/// The name of a resource's file in its folder, on disk and in the URLs that players see.
///
/// `12.ts` is the segment with media sequence number 12, `init-0.mp4` the first distinct initialization section of a
/// rendition, `3.key` the asset's key number 3, `live-7.m4s` a resource of a live playlist that is no segment,
/// `data-5.json` a resource of EXT-X-SESSION-DATA. The extension is one that players accept for the content
/// (libavformat refuses unknown ones), so it may differ from that of the origin's URL.
public struct PieceName: Hashable, Sendable, CustomStringConvertible {
    /// The role of a resource in its rendition.
    public enum Role: Hashable, Sendable {
        /// A media segment, by media sequence number.
        case segment(Int)
        /// A media initialization section, by its index among the playlist's distinct ones.
        case initialization(Int)
        /// A key, by its number in the asset.
        case key(Int)
        /// Another resource of a live playlist (part, hint, section), by a number from its first sight. Never stored.
        case passing(Int)
        /// Session data, by a number that is computed from its identity in the playlist.
        case data(Int)

        package var number: Int {
            switch self {
            case .segment(let number), .initialization(let number), .key(let number), .passing(let number),
                .data(let number):
                number
            }
        }
    }

    /// The role of the resource.
    public let role: Role
    /// Without the dot.
    public let fileExtension: String

    /// Creates a name from a role and a file extension.
    public init(_ role: Role, fileExtension: String) { (self.role, self.fileExtension) = (role, fileExtension) }

    /// Parses a name exactly as `description` writes it.
    public init?(_ text: String) {
        guard let dot = text.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
        fileExtension = String(text[text.index(after: dot)...])
        let (prefix, stem) = Self.split(text[..<dot])
        guard let number = Self.number(stem), Self.isExtension(fileExtension) else { return nil }
        switch prefix {
        case "init-": role = .initialization(number)
        case "live-": role = .passing(number)
        case "data-": role = .data(number)
        case "": role = fileExtension == "key" ? .key(number) : .segment(number)
        default: return nil
        }
    }

    private static func split(_ text: Substring) -> (prefix: Substring, number: Substring) {
        guard let dash = text.utf8.firstIndex(of: UInt8(ascii: "-")) else { return ("", text) }
        let start = text.utf8.index(after: dash)
        return (text[..<start], text[start...])
    }

    /// The name.
    public var description: String {
        switch role {
        case .segment(let number), .key(let number): "\(number).\(fileExtension)"
        case .initialization(let number): "init-\(number).\(fileExtension)"
        case .passing(let number): "live-\(number).\(fileExtension)"
        case .data(let number): "data-\(number).\(fileExtension)"
        }
    }

    /// Parses a number without sign or leading zero: otherwise two names would identify one resource.
    private static func number(_ text: some StringProtocol) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return text.utf8.count > 1 && text.utf8.first == UInt8(ascii: "0") ? nil : Int(text)
    }

    private static func isExtension(_ text: String) -> Bool {
        (1...8).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
            }
    }

    /// The kind of media of a rendition, as far as file names depend on it.
    public enum Content: Sendable { case media, subtitles, images }

    /// The extension for a segment whose URL has the path `path`.
    ///
    /// Every player accepts fragmented MP4 as `.m4s`, `.mp4` or `.cmfv`. TS and packed audio keep an extension that
    /// players know; images keep theirs. Any other extension (media as `.jpg`, `.php`, or none) is replaced by that of
    /// the expected content.
    public static func segmentExtension(forPath path: String, content: Content, hasMap: Bool) -> String {
        let own = self.extension(ofPath: path)
        if content == .images { return pictures.contains(own) ? own : "jpg" }
        if hasMap { return ["m4s", "mp4", "cmfv"].contains(own) ? own : "m4s" }
        if content == .subtitles { return ["vtt", "webvtt"].contains(own) ? own : "vtt" }
        return ["ts", "aac", "mp3", "ac3", "ec3", "vtt", "webvtt", "m4s", "mp4"].contains(own) ? own : "ts"
    }

    static let pictures: Set<String> = ["jpg", "jpeg", "png", "webp"]

    /// The extension of a path's last component, in lower case; empty if there is none.
    package static func `extension`(ofPath path: String) -> String {
        let name = path.utf8[
            (path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex)...]
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        return path[path.utf8.index(after: dot)...].lowercased()
    }
}
