internal import Foundation
public import HLS
public import HTTPMessage
public import Origin

/// Makes names and ids of assets.
package enum AssetNaming {
    /// File names that do not describe the content.
    private static let empty: Set<String> = [
        "master", "index", "playlist", "manifest", "main", "stream", "hls", "video", "prog-index", "chunklist", "vod",
        "media", "live", "m3u8",
    ]

    /// Makes a name from a URL: from its path, or from its host if only a handler answers it and there is no path.
    package static func name(for url: WebURL) -> String {
        guard !url.path.isEmpty else { return name(forPath: "/" + url.host) }
        return name(forPath: url.path)
    }

    /// Makes a name from a URL's path, `/vod/My%20Film/master.m3u8` → `my-film`: the last descriptive component, as
    /// `slug` allows it; `stream` if nothing is left.
    package static func name(forPath path: String) -> String {
        let components = path.split(separator: "/").map { slug(decoded(withoutExtension($0))[...]) }
            .filter { !$0.isEmpty }
        return components.last { !empty.contains($0) } ?? "stream"
    }

    /// Returns the first of `name`, `name-2`, `name-3` … that is not taken.
    package static func unique(_ name: String, isTaken: (String) -> Bool) -> String {
        guard isTaken(name) else { return name }
        var number = 2
        while isTaken("\(name)-\(number)") {
            number += 1
        }
        return "\(name)-\(number)"
    }

    /// Makes a unique id for a new asset: what its name has of ASCII, by which the user recognizes the folder, and four characters.
    package static func id(forName name: String, isTaken: (String) -> Bool) -> String {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789")
        var start = idSlug(name[...])
        if start.isEmpty {
            start = "asset"
        }
        while true {
            let id = start + "-" + String((0..<4).compactMap { _ in alphabet.randomElement() })
            if !isTaken(id) {
                return id
            }
        }
    }

    /// True if a user may give an asset this name: `slug` leaves it unchanged.
    package static func isName(_ name: String) -> Bool { !name.isEmpty && slug(name[...]) == name }

    /// The sentence about a text that is no name.
    package static func flaw(of name: String) -> String {
        let isLong = name.count > longest && name.allSatisfy { $0 == "-" || slug("\($0)") == "\($0)" }
        guard !isLong else { return "\"\(name)\" is no name: it has more than \(longest) characters" }
        return "\"\(name)\" is no name: use small letters, digits and single dashes"
    }

    private static func withoutExtension(_ component: Substring) -> Substring {
        guard let dot = component.lastIndex(of: "."), dot != component.startIndex else { return component }
        return component[..<dot]
    }

    private static func decoded(_ component: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = component.utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let decoded = UInt8(String(rest.prefix(2)) ?? "", radix: 16) {
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Number of characters of a name, at most.
    package static let longest = 40
    /// Bytes of a name, at most: a character may have any number of accents.
    private static let mostBytes = 160

    /// Does the work of `slug(_:)` for a text of ASCII alone, as are the titles of most of 100,000 channels; nil for any other.
    private static func plainSlug(_ text: Substring) -> String? {
        var slug: [UInt8] = []
        let dash = UInt8(ascii: "-")
        for byte in text.utf8 {
            guard byte < 0x80 else { return nil }
            guard slug.count < longest else { continue }
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): slug.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): slug.append(byte | 0x20)
            default:
                if !slug.isEmpty, slug.last != dash {
                    slug.append(dash)
                }
            }
        }
        while slug.last == dash {
            slug.removeLast()
        }
        return String(decoding: slug, as: UTF8.self)
    }

    /// Reduces a text to small letters and digits of any script and single `-`, in NFC; at most `longest` characters.
    package static func slug(_ text: Substring) -> String {
        if let plain = plainSlug(text) {
            return plain
        }
        // Accents of their own characters (NFD), as macOS writes them, would make another name of it.
        let composed = String(text).lowercased().precomposedStringWithCanonicalMapping
        var slug = ""
        for character in composed {
            let isKept = character.unicodeScalars.allSatisfy { scalar in
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil || isMark(scalar)
            }
            if isKept, character.isLetter || character.isNumber {
                slug.append(character)
            } else if !slug.isEmpty, slug.last != "-" {
                slug += "-"
            }
            if slug.count >= longest || slug.utf8.count > mostBytes {
                break
            }
        }
        if slug.utf8.count > mostBytes {
            slug.removeLast()
        }
        while slug.last == "-" {
            slug.removeLast()
        }
        return slug
    }

    /// True for a sign of a letter, such as a vowel of an Indian script.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark: true
        default: false
        }
    }

    /// True for a part of an id: `idSlug` leaves it unchanged.
    package static func isID(_ text: String) -> Bool {
        !text.isEmpty && idSlug(text[...]).utf8.elementsEqual(text.utf8)
    }

    /// Reduces a text to lower-case letters of ASCII, digits and single `-`, for folders and paths; at most `longest` characters.
    package static func idSlug(_ text: Substring) -> String {
        var slug = ""
        for byte in text.utf8 {
            let character = Character(UnicodeScalar(byte)).lowercased()
            if byte < 0x80, character.first.map({ $0.isLetter || $0.isNumber }) ?? false {
                slug += character
            } else if !slug.isEmpty, slug.last != "-" {
                slug += "-"
            }
            if slug.utf8.count >= longest {
                break
            }
        }
        while slug.last == "-" {
            slug.removeLast()
        }
        return slug
    }
}

/// A stream of the user's streams file, or a channel of one of the user's lists. It has a name, but no asset until it is first opened.
public struct KnownStream: Equatable, Sendable {
    /// The name of its asset.
    public let name: String
    /// For display.
    public let title: String?
    /// The URL of the stream.
    public let url: WebURL
    /// The URL of a picture.
    public var logo: String?
    /// The group in channel lists.
    public var group: String?
    /// The user's header fields for its asset; nil without any.
    public var fields: UserFields?
    /// The further attributes that a channel list has for it, such as `tvg-chno`; without passwords.
    public var attributes: [ChannelList.Attribute] = []
    /// The id in a television guide; nil for the name.
    public var guideID: String?
    /// The name of its list; nil for a stream of the streams file.
    public var list: String?
    /// True if the user named its host: the entry of the file did, or the URL of the list. Otherwise the host must not be private.
    public var namesHost = true
    /// The class of the first address of the list's host, if the stream is on that host; nil if it is not known.
    public var hostClass: HostClass?

    /// Creates a stream; nil if the name is no valid asset name.
    public init?(name: String, title: String?, url: WebURL) {
        guard AssetNaming.isName(name) else { return nil }
        self.name = AssetNaming.slug(name[...])
        self.title = title
        self.url = url
    }

    /// Makes a name from a title: small letters, digits and single dashes; empty if nothing is left.
    public static func name(forTitle title: String) -> String { AssetNaming.slug(title[...]) }
}
