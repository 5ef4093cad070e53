import Assets
import HLS

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
    /// The asset's id, and the folder of the rendition.
    let asset: String
    let folder: String
    let view: MediaPlaylistView
    let cut: MediaPlaylistCut?
    let playlist: MediaPlaylist
    let names: MediaNames

    func text() throws(PlaylistError) -> [UInt8] { try names.text(of: playlist, as: view, cut: cut) }
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
        case ladder(best: Int, base: Int, indices: Set<Int>)
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
        case .listing(let indices): try playlist.stored(renditions: indices) { name($0) }
        case .variants(let indices): try playlist.stored(renditions: indices, listsAllMedia: true) { name($0) }
        case .without(let indices): try playlist.rendered(without: indices) { name($0) }
        case .ladder(let best, let base, let indices):
            try playlist.rendered(only: playlist.variants[best], among: indices) { reference in
                if case .variant = reference {
                    return media(base)
                }
                return name(reference)
            }
        }
    }

    private func name(_ reference: MultivariantPlaylist.Reference) -> String? {
        if let index = reference.renditionIndex {
            return media(index)
        }
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
        guard folders.indices.contains(index) else { return nil }
        return "\(SessionPath.mark)\(folders[index])/\(Route.playlistFile)"
    }
}
