public import Fetching
public import HLS
import HTTPMessage

/// Names renditions for URLs and files: `video-720p`, `audio-en`, `subtitles-en`.
public struct RenditionNaming: Equatable, Sendable {
    /// The name of one rendition of a multivariant playlist.
    public struct Name: Equatable, Sendable {
        /// Unique in the asset; lower-case letters, digits and `-`.
        public let id: String
        /// The kind of content of its segments.
        public let content: PieceName.Content
        /// True if it is only for trick play (EXT-X-I-FRAME-STREAM-INF).
        public let isIFramesOnly: Bool

        /// For messages: `720p`, `audio en`; nil for an asset's only rendition.
        package var displayName: String? {
            if self == RenditionNaming.lone {
                return nil
            }
            let words = id.split(separator: "-").joined(separator: " ")
            guard words.hasPrefix("video ") else { return words }
            return String(words.dropFirst(6))
        }
    }

    /// The names, in the order of `MultivariantPlaylist.renditionURIs`.
    public let names: [Name]

    /// Names all renditions of a playlist. The names depend only on its text, so that they are stable across restarts.
    public init(_ playlist: MultivariantPlaylist) {
        var draft = [Name?](repeating: nil, count: playlist.renditionURIs.count)
        var ids = UniqueNames()
        // The first line of a rendition names it.
        func put(
            _ index: Int, named base: String, _ content: PieceName.Content = .media, isIFramesOnly: Bool = false
        ) {
            guard draft[index] == nil else { return }
            draft[index] = Name(id: ids.insert(base), content: content, isIFramesOnly: isIFramesOnly)
        }

        for variant in playlist.variants {
            put(variant.renditionIndex, named: Self.base(of: variant))
        }
        for media in playlist.media {
            guard let index = media.renditionIndex else { continue }
            let content: PieceName.Content = media.type == .subtitles ? .subtitles : .media
            put(index, named: Self.base(of: media), content)
        }
        for variant in playlist.iFrameVariants {
            put(variant.renditionIndex, named: "iframes" + Self.height(variant.resolution), isIFramesOnly: true)
        }

        names = draft.enumerated().map { index, name in
            name ?? Name(id: "rendition-\(index)", content: .media, isIFramesOnly: false)
        }
    }

    /// The name of the only rendition of a lone media playlist.
    public static let lone = Name(id: "media", content: .media, isIFramesOnly: false)

    private static func base(of variant: Variant) -> String {
        if variant.resolution != nil {
            return "video" + height(variant.resolution)
        }
        return variant.isAudioOnly ? "audio" : "video"
    }

    private static func base(of media: Media) -> String {
        let kind: String =
            switch media.type {
            case .audio: "audio"
            case .subtitles: "subtitles"
            case .video: "video"
            default: "media"
            }
        let language = AssetNaming.idSlug((media.language ?? media.name)[...])
        guard !language.isEmpty else { return kind }
        return "\(kind)-\(language)"
    }

    /// The end of a name: `-720p`; empty without a resolution.
    fileprivate static func height(_ resolution: Resolution?) -> String {
        guard let resolution else { return "" }
        return "-\(resolution.height)p"
    }
}

/// Names the media playlists of images that EXT-X-IMAGE-STREAM-INF lists: `images-180p`. They are only cached.
enum ImageRenditions {
    /// The names, in the order of `MultivariantPlaylist.imageVariants`. They depend only on the text of the playlist.
    static func names(_ playlist: MultivariantPlaylist) -> [RenditionNaming.Name] {
        var ids = UniqueNames()
        return playlist.imageVariants.map { variant in
            let height = RenditionNaming.height(variant.resolution)
            return RenditionNaming.Name(id: ids.insert("images" + height), content: .images, isIFramesOnly: false)
        }
    }
}

/// Makes names unique by numbers, in constant time per name: a playlist may have 10,000 variants of one height.
private struct UniqueNames {
    private var taken: Set<String> = []
    /// The next number to try for a name.
    private var numbers: [String: Int] = [:]

    /// Returns the first of `name`, `name-2`, `name-3` … that was not returned before.
    mutating func insert(_ name: String) -> String {
        if taken.insert(name).inserted {
            return name
        }
        var number = numbers[name] ?? 2
        while !taken.insert("\(name)-\(number)").inserted {
            number += 1
        }
        numbers[name] = number + 1
        return "\(name)-\(number)"
    }
}
