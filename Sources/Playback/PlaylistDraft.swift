import EventLoop
import HTTPMessage
import Library
import Playlist

/// A playlist that is to be written for players, with the names of all that it may name. It has no session: `SessionPath.mark` stands
/// for the path of the session's URLs. Drafts that are equal have the same text. Pure, so that a large one is written on a worker.
enum PlaylistDraft: Equatable, Sendable {
    case media(MediaDraft)
    case entry(EntryDraft)
    /// A text that is written already.
    case text([UInt8])

    /// Nil if there is nothing to play.
    func text() throws(PlaylistError) -> [UInt8]? {
        switch self {
        case .media(let draft): try draft.text()
        case .entry(let draft): try draft.text()
        case .text(let text): text
        }
    }

    /// True if both are playlists at one URL, but for the session, and the other one has another text of the origin.
    func supersedes(_ other: PlaylistDraft) -> Bool {
        switch (self, other) {
        case (.media(let one), .media(let two)):
            one.asset == two.asset && one.folder == two.folder && one.playlist != two.playlist
        case (.entry(let one), .entry(let two)): one.asset == two.asset && one.playlist != two.playlist
        default: false
        }
    }

    /// The size of the work, as in `PureWork.small`.
    var size: Int {
        switch self {
        case .media(let draft):
            // Each segment gets a name, however short its lines are.
            max(draft.playlist.text.write().count, 64 * draft.playlist.segments.count)
        case .entry(let draft):
            max(
                draft.playlist.text.write().count,
                256 * (draft.playlist.variants.count + draft.playlist.media.count))
        case .text(let text): text.count
        }
    }
}

/// A media playlist.
struct MediaDraft: Equatable, Sendable {
    /// The asset's id.
    let asset: String
    /// The folder of the rendition in the session's URLs.
    let folder: String
    /// True if the player finds the playlist at `media.m3u8` in that folder, so that its URIs are relative: short, and the same for all
    /// sessions. At the URL of an entry they begin with the session's path.
    let isInFolder: Bool
    let view: MediaPlaylistView
    let cut: MediaPlaylistCut?
    let playlist: MediaPlaylist
    /// The URL of the playlist at its origin.
    let base: WebURL
    /// By index of the segment; empty if `names` gives them.
    var files: [String] = []
    /// For a live playlist, and a recorded one.
    var names: Rendition.SegmentNames?
    /// By index of the section.
    var maps: [String] = []
    /// Numbers by index of the key; nil for keys that cannot be fetched.
    var keys: [Int?] = []
    /// URIs by index of the date range; nil if the player must not load it.
    var presentations: [Int: String] = [:]
    var lists: [Int: String] = [:]
    var lowLatency = LowLatencyNames()

    /// Names of a low-latency playlist's lines, by their index. Without a name the URI leads to a 404: of a hint that has no name yet,
    /// which players treat as a hint that did not come true (rfc8216bis §6.2.6), and of a report on a rendition that the multivariant
    /// playlist does not list.
    struct LowLatencyNames: Equatable, Sendable {
        var parts: [String?] = []
        var hints: [String?] = []
        /// Paths in the folder of the session.
        var reports: [String?] = []
    }

    func text() throws(PlaylistError) -> [UInt8] {
        let session = isInFolder ? "../" : SessionPath.mark
        let own = isInFolder ? "" : "\(session)\(folder)/"
        return try playlist.rendered(view, cut: cut) { reference in
            switch reference {
            case .segment(let segment): file(of: segment).map { own + $0 }
            case .map(let map): element(map.index, of: maps).map { own + $0 }
            case .key(let key):
                (element(key.index, of: keys) ?? nil).map { "\(session)keys/\($0).key" }
                    ?? Self.absolute(key.uri, base)
            case .assetURI(let range): presentations[range.index]
            case .assetList(let range): lists[range.index]
            case .part(let part): own + (name(part.index, lowLatency.parts) ?? Self.none)
            case .preloadHint(let hint): own + (name(hint.index, lowLatency.hints) ?? Self.none)
            case .renditionReport(let report):
                name(report.index, lowLatency.reports).map { session + $0 } ?? own + Self.none
            }
        }
    }

    /// The file of a URL that leads nowhere.
    private static let none = "none"

    private func element<Element>(_ index: Int, of elements: [Element]) -> Element? {
        elements.indices.contains(index) ? elements[index] : nil
    }

    private func name(_ index: Int, _ names: [String?]) -> String? { element(index, of: names) ?? nil }

    private func file(of segment: Segment) -> String? {
        names.map { $0.file(of: segment) } ?? element(segment.index, of: files)
    }

    /// The absolute URL of a relative URI that Weir does not serve, such as that of an unknown METHOD.
    private static func absolute(_ uri: String, _ base: WebURL) -> String? {
        WebURL.isRelative(uri) && !uri.isEmpty ? (try? base.resolving(uri))?.text : nil
    }
}

/// A multivariant playlist.
struct EntryDraft: Equatable, Sendable {
    enum Choice: Equatable, Sendable {
        /// All lines; the variants that these complete renditions play come first.
        case all(complete: Set<Int>)
        /// Only what these renditions play.
        case listing(Set<Int>)
        /// The variants that these renditions play, with all their EXT-X-MEDIA lines.
        case variants(Set<Int>)
        /// All lines but those of these renditions.
        case without(Set<Int>)
        /// One variant, by its index, with the playlist of another one.
        case ladder(best: Int, base: Int, places: Set<Int>)
    }

    /// The asset's id.
    let asset: String
    let choice: Choice
    /// By index of the rendition.
    let folders: [String]
    /// The tracks that are attached to the asset.
    let added: AddedTracks
    let playlist: MultivariantPlaylist
    /// Paths in the folder of the session: by line of the session key, by index of the session data, by index of the images.
    var keys: [Int: String] = [:]
    var data: [Int: String] = [:]
    var images: [Int: String] = [:]

    func text() throws(PlaylistError) -> [UInt8]? {
        guard let text = try ownText() else { return nil }
        return try added.added(to: text) { SessionPath.mark + $0 }
    }

    private func ownText() throws(PlaylistError) -> [UInt8]? {
        switch choice {
        case .all(let complete):
            try playlist.rendered(first: playlist.initialChoice(of: complete)) { name($0) }
        case .listing(let places): try playlist.stored(renditions: places) { name($0) }
        case .variants(let places): try playlist.stored(renditions: places, listsAllMedia: true) { name($0) }
        case .without(let places): try playlist.rendered(without: places) { name($0) }
        case .ladder(let best, let base, let places):
            try playlist.rendered(only: playlist.variants[best], among: places) { reference in
                if case .variant = reference { return media(base) }
                return name(reference)
            }
        }
    }

    private func name(_ reference: MultivariantPlaylist.Reference) -> String? {
        if let index = reference.renditionIndex { return media(index) }
        let path: String? =
            switch reference {
            case .sessionKey(let key): keys[key.line]
            case .sessionData(let data): self.data[data.index]
            case .imageVariant(let images): self.images[images.index]
            case .variant, .media, .iFrameVariant, .steering: nil
            }
        return path.map { SessionPath.mark + $0 }
    }

    private func media(_ index: Int) -> String? {
        folders.indices.contains(index) ? "\(SessionPath.mark)\(folders[index])/\(Route.playlistFile)" : nil
    }
}
