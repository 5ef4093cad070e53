/// The name of a resource's file in its folder, on disk and in the URLs that players see.
///
/// `12.ts` is the segment with media sequence number 12, `init-0.mp4` the first distinct initialization section of a
/// rendition, `3.key` the asset's key number 3, `live-7.m4s` what a live playlist names beside its segments,
/// `data-5.json` what EXT-X-SESSION-DATA leads to. The extension is one that players accept for what is inside
/// (libavformat refuses unknown ones), so it need not be that of the origin's URL.
public struct PieceName: Hashable, Sendable, CustomStringConvertible {
    /// What a resource is to its rendition.
    public enum Role: Hashable, Sendable {
        /// A media segment, by media sequence number.
        case segment(Int)
        /// A media initialization section, by its place among the playlist's distinct ones.
        case initialization(Int)
        /// A key, by its number in the asset.
        case key(Int)
        /// A part, a hint or an initialization section of a live playlist, by the number that it got when it was first
        /// seen. Never kept.
        case passing(Int)
        /// Session data, by a number that is made of what it is called in the playlist.
        case data(Int)

        /// The number.
        package var number: Int {
            switch self {
            case .segment(let number), .initialization(let number), .key(let number), .passing(let number),
                .data(let number):
                number
            }
        }
    }

    /// What it is.
    public let role: Role
    /// Without the dot.
    public let fileExtension: String

    /// The name of a role, with its extension.
    public init(_ role: Role, fileExtension: String) {
        self.role = role
        self.fileExtension = fileExtension
    }

    /// Reads a name as `description` writes it, and nothing else.
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

    /// What stands up to the dash, and the rest.
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

    /// A number as it is written here: digits, no sign, no leading zero; else two names would be one resource.
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
}

extension PieceName {
    /// What kind of media a rendition carries, as far as its files' names depend on it.
    public enum Content: Sendable { case media, subtitles, images }

    /// The extension for a segment that the origin calls `path`.
    ///
    /// Fragmented MP4 passes in every player as `.m4s`, `.mp4` or `.cmfv`; a TS or packed audio keeps a name that
    /// players know; pictures keep theirs; anything else (media as `.jpg`, `.php`, none) gets the extension of what it
    /// must be.
    public static func segmentExtension(forPath path: String, content: Content, hasMap: Bool) -> String {
        let own = self.extension(ofPath: path)
        if content == .images { return ["jpg", "jpeg", "png", "webp"].contains(own) ? own : "jpg" }
        if hasMap { return ["m4s", "mp4", "cmfv"].contains(own) ? own : "m4s" }
        if content == .subtitles { return ["vtt", "webvtt"].contains(own) ? own : "vtt" }
        return ["ts", "aac", "mp3", "ac3", "ec3", "vtt", "webvtt", "m4s", "mp4"].contains(own) ? own : "ts"
    }

    /// What stands behind the last dot of a path's last component, in small letters; empty without one.
    package static func `extension`(ofPath path: String) -> String {
        let name = path.utf8[
            (path.utf8.lastIndex(of: UInt8(ascii: "/")).map(path.utf8.index(after:)) ?? path.startIndex)...]
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        return path[path.utf8.index(after: dot)...].lowercased()
    }
}
