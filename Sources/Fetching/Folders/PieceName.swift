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

        /// The beginning of the file's name, before the number.
        fileprivate var prefix: String {
            switch self {
            case .segment, .key: ""
            case .initialization: "init-"
            case .passing: "live-"
            case .data: "data-"
            }
        }

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
    public init(_ role: Role, fileExtension: String) {
        self.role = role
        self.fileExtension = fileExtension
    }

    /// Parses a name exactly as `description` writes it.
    public init?(_ text: String) {
        var text = text
        let parsed = text.withUTF8 { Self.parse($0) }
        guard let parsed else { return nil }
        self = parsed
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>) -> PieceName? {
        guard let dot = text.firstIndex(of: UInt8(ascii: ".")), isExtension(text[(dot + 1)...]) else { return nil }
        var start = 0
        if let dash = text[..<dot].firstIndex(of: UInt8(ascii: "-")) {
            start = dash + 1
        }
        guard let number = number(text[start..<dot]) else { return nil }
        let fileExtension = String(decoding: text[(dot + 1)...], as: UTF8.self)
        if start == 0 {
            return PieceName(fileExtension == "key" ? .key(number) : .segment(number), fileExtension: fileExtension)
        }
        let role: Role
        switch String(decoding: text[..<start], as: UTF8.self) {
        case "init-": role = .initialization(number)
        case "live-": role = .passing(number)
        case "data-": role = .data(number)
        default: return nil
        }
        return PieceName(role, fileExtension: fileExtension)
    }

    /// The name.
    public var description: String {
        // Appended in parts: most names are short, and an interpolation would take memory for each.
        var text = role.prefix
        text += String(role.number)
        text += "."
        text += fileExtension
        return text
    }

    /// Parses a number without sign or leading zero: otherwise two names would identify one resource.
    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard let first = digits.first, digits.count == 1 || first != UInt8(ascii: "0") else { return nil }
        var number = 0
        for digit in digits {
            guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isOver) = tens.addingReportingOverflow(Int(digit - UInt8(ascii: "0")))
            guard !isTooLarge, !isOver else { return nil }
            number = sum
        }
        return number
    }

    private static func isExtension(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard (1...8).contains(text.count) else { return false }
        for byte in text {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): continue
            default: return false
            }
        }
        return true
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
        if content == .images {
            return pictures.contains(own) ? own : "jpg"
        }
        if hasMap {
            return ["m4s", "mp4", "cmfv"].contains(own) ? own : "m4s"
        }
        if content == .subtitles {
            return ["vtt", "webvtt"].contains(own) ? own : "vtt"
        }
        return ["ts", "aac", "mp3", "ac3", "ec3", "vtt", "webvtt", "m4s", "mp4"].contains(own) ? own : "ts"
    }

    static let pictures: Set<String> = ["jpg", "jpeg", "png", "webp"]

    /// The extension of a path's last component, in lower case; empty if there is none.
    package static func `extension`(ofPath path: String) -> String {
        var name = path.utf8[...]
        if let slash = name.lastIndex(of: UInt8(ascii: "/")) {
            name = name[name.index(after: slash)...]
        }
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return "" }
        let ending = path[name.index(after: dot)...]
        let isLower = ending.utf8.allSatisfy { $0 < 0x80 && !(0x41...0x5A).contains($0) }
        guard !isLower else { return String(ending) }
        return ending.lowercased()
    }
}
