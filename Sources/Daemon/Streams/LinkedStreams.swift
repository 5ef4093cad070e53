internal import Foundation
internal import HLS
internal import HTTPMessage

/// The URLs in a word that the desktop gives to Weir: a `weir://` link, an http URL, or the path of a playlist file. Nothing else
/// of the word counts, since a web page may have chosen it.
package struct LinkedStreams: Equatable, Sendable {
    /// A word without a URL that can be opened.
    package struct Refusal: Error, Equatable {
        package let sentence: String
    }

    /// http and https URLs: one of a link, one or more of a file.
    package let urls: [String]

    /// Most URLs of a file.
    package static let limit = 500

    /// - Parameter read: reads the file at a path; nil if that is not possible.
    package init(_ word: String, read: (String) -> [UInt8]?) throws(Refusal) {
        if let link = Self.link(in: word) {
            urls = [try Self.url(link)]
            return
        }
        let lower = word.lowercased()
        if lower.hasPrefix("http://") || lower.hasPrefix("https://") {
            urls = [try Self.url(word)]
            return
        }
        var path: String?
        if lower.hasPrefix("file://") {
            path = Foundation.URL(string: word)?.path
        } else if !word.contains("://") {
            path = word
        }
        guard let path else {
            throw Refusal(sentence: "it is neither a weir:// link, nor an http URL, nor a file")
        }
        guard let bytes = read(path) else { throw Refusal(sentence: "the file cannot be read") }
        urls = Self.streams(in: bytes)
        guard !urls.isEmpty else {
            throw Refusal(sentence: "the file names no playlist by an http URL: only such URLs of a file are opened")
        }
    }

    /// The URL in a `weir:` link. Browsers write `weir://https//host/` for `weir://https://host/`, as `https` is a host to them.
    private static func link(in word: String) -> String? {
        guard word.lowercased().hasPrefix("weir:") else { return nil }
        let rest = word.dropFirst(5).drop { $0 == "/" }
        for scheme in ["http", "https"] where rest.lowercased().hasPrefix(scheme + "//") {
            return scheme + "://" + rest.dropFirst(scheme.count + 2)
        }
        return String(rest)
    }

    private static func url(_ text: String) throws(Refusal) -> String {
        guard let url = try? WebURL(text), !url.needsHandler else {
            throw Refusal(sentence: "the link has no http or https URL, or one with a password")
        }
        return url.text
    }

    /// The absolute URLs of playlists in a playlist or a channel list, each once.
    private static func streams(in bytes: [UInt8]) -> [String] {
        var texts: [String] = []
        if !ChannelList.isHLS(bytes) {
            texts = ChannelList(bytes).channels.map(\.url)
        } else if case .multivariant(let playlist)? = try? Playlist.parse(bytes) {
            texts = playlist.variants.map(\.uri)
        }
        var seen: Set<String> = []
        let urls = texts.compactMap { text -> String? in
            guard let url = try? WebURL(text), !url.needsHandler, seen.insert(url.text).inserted else { return nil }
            return url.text
        }
        return Array(urls.prefix(limit))
    }
}
