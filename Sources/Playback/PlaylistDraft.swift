import EventLoop
import Fetching
import Glibc
import HTTPMessage
import Library
import Playlist
import Substitution

/// A playlist that is to be written for a player, with the names of all that it may name. Pure, so that a large one is
/// written on a worker.
enum PlaylistDraft: Sendable {
    case media(MediaDraft)
    case entry(EntryDraft)
    /// A small playlist; nil if there is nothing to play.
    case text([UInt8]?)

    /// Nil if there is nothing to play.
    func text() throws(PlaylistError) -> [UInt8]? {
        switch self {
        case .media(let draft): try draft.text()
        case .entry(let draft): try draft.text()
        case .text(let text): text
        }
    }

    /// The playlist, written for the session with this id; nil if there is nothing to play.
    func written(_ session: String) -> Result<WrittenPlaylist?, PlaylistError> {
        do throws(PlaylistError) {
            return .success(try text().map { WrittenPlaylist($0, session: session) })
        } catch {
            return .failure(error)
        }
    }

    /// True if the texts of both differ only in the session's id. Fast where both are of one playlist.
    func isAlike(_ other: PlaylistDraft) -> Bool {
        switch (self, other) {
        case (.media(let one), .media(let two)): one.isAlike(two)
        case (.entry(let one), .entry(let two)): one.isAlike(two)
        default: false
        }
    }

    /// True if both are playlists at one URL, but for the session.
    func replaces(_ other: PlaylistDraft) -> Bool {
        switch (self, other) {
        case (.media(let one), .media(let two)): one.prefix.isAlike(two.prefix) && one.folder == two.folder
        case (.entry(let one), .entry(let two)): one.prefix.isAlike(two.prefix)
        default: false
        }
    }

    /// The size of the work, as in `PureWork.small`.
    var size: Int {
        switch self {
        case .media(let draft): draft.playlist.writingSize
        case .entry(let draft): 256 * (draft.playlist.variants.count + draft.playlist.media.count)
        case .text(let text): text?.count ?? 0
        }
    }
}

/// The text of a playlist for a player.
struct WrittenPlaylist: Equatable, Sendable {
    /// Shorter texts are not shared.
    static let threshold = 64 * 1024
    /// A long text has zeros in place of the session's id.
    let bytes: [UInt8]
    /// Offsets of the session's id; none in a short text.
    let places: [Int]
    let fingerprint: UInt64
    var isLong: Bool { bytes.count > Self.threshold }

    /// - Parameter session: the id of the session, which stands between two slashes.
    init(_ text: consuming [UInt8], session: String) {
        var places: [Int] = []
        if text.count > Self.threshold {
            let id = Array(session.utf8)
            places = Self.places(of: [UInt8(ascii: "/")] + id + [UInt8(ascii: "/")], in: text).map { $0 + 1 }
            for place in places { for offset in id.indices { text[place + offset] = 0 } }
        }
        fingerprint = Fingerprint.of(text)
        (bytes, self.places) = (text, places)
    }

    private static func places(of pattern: [UInt8], in bytes: [UInt8]) -> [Int] {
        bytes.withUnsafeBytes { all in
            var places: [Int] = []
            guard let base = all.baseAddress else { return places }
            let last = all.count - pattern.count
            var next = 0
            while next <= last, let found = memchr(base + next, Int32(pattern[0]), last - next + 1) {
                let place = UnsafeRawPointer(found) - base
                let isFound = memcmp(found, pattern, pattern.count) == 0 && isBehindAsset(all, place)
                if isFound { places.append(place) }
                // The slash at the end may begin the next one.
                next = place + (isFound ? pattern.count - 1 : 1)
            }
            return places
        }
    }

    /// True if the text in front of the place ends in `/a/` and an asset's id. A client may choose a session's id, so that it
    /// equals another part of a path.
    private static func isBehindAsset(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        let slash = UInt8(ascii: "/")
        var start = place
        while start > 0, bytes[start - 1] != slash {
            if bytes[start - 1] < 0x21 { return false }
            start -= 1
        }
        return start >= 3 && start < place && bytes[start - 2] == UInt8(ascii: "a") && bytes[start - 3] == slash
    }
}

/// The path of all that a session may request.
struct SessionPrefix: Sendable, CustomStringConvertible {
    let description: String
    private let session: Session

    /// - Parameter mount: the path prefix of a player that does not reach Weir at the root.
    init(mount: String, asset: String, _ session: Session) {
        description = "\(mount)/a/\(asset)/\(session.id)/"
        self.session = session
    }

    /// The part that all sessions share.
    private var root: Substring.UTF8View { description.dropLast(session.id.utf8.count + 1).utf8 }

    /// True if both differ at most in the random part of the session's id.
    func isAlike(_ other: SessionPrefix) -> Bool {
        session.mode == other.session.mode && root.elementsEqual(other.root)
    }
}

/// A media playlist.
struct MediaDraft: Sendable {
    let playlist: MediaPlaylist
    let base: WebURL
    let view: MediaPlaylistView
    let cut: MediaPlaylistCut?
    /// The prefix of the session's URLs, and the path of the rendition behind it.
    let prefix: SessionPrefix
    let folder: String
    /// By index of the segment; empty if `names` gives them.
    let files: [String]
    /// For a live playlist, and a recorded one.
    var names: Rendition.SegmentNames?
    /// By index of the section.
    let maps: [String]
    /// Numbers by index of the key; nil for keys that cannot be fetched.
    let keys: [Int?]
    /// By index of the date range; nil if the player must not load it. Behind the prefix, unless they begin with a slash or are absolute.
    let presentations: [Int: String]
    let lists: [Int: String]
    var lowLatency = LowLatencyNames()

    /// Names of a low-latency playlist's lines, by their index. Without one a line leads to a 404; see `PlayerView`.
    struct LowLatencyNames: Equatable, Sendable {
        var parts: [String?] = []
        var hints: [String?] = []
        /// URLs behind the prefix.
        var reports: [String?] = []
    }

    /// See `PlaylistDraft.isAlike(_:)`.
    func isAlike(_ other: MediaDraft) -> Bool {
        prefix.isAlike(other.prefix) && folder == other.folder && base == other.base && view == other.view
            && cut == other.cut && playlist.hasSameText(as: other.playlist) && files == other.files
            && names == other.names && maps == other.maps && keys == other.keys && presentations == other.presentations
            && lists == other.lists && lowLatency == other.lowLatency
    }

    func text() throws(PlaylistError) -> [UInt8] {
        let prefix = prefix.description
        let path = "\(prefix)\(folder)/"
        func link(_ text: String) -> String { text.hasPrefix("/") || text.hasPrefix("http") ? text : prefix + text }
        return try playlist.rendered(view, cut: cut) { reference in
            switch reference {
            case .segment(let segment): file(of: segment).map { path + $0 }
            case .map(let map): maps.indices.contains(map.index) ? path + maps[map.index] : nil
            case .key(let key):
                keys.indices.contains(key.index)
                    ? keys[key.index].map { "\(prefix)keys/\($0).key" } ?? Self.absolute(key.uri, base) : nil
            case .assetURI(let range): presentations[range.index].map(link)
            case .assetList(let range): lists[range.index].map(link)
            case .part(let part): path + (name(part.index, lowLatency.parts) ?? Self.none)
            case .preloadHint(let hint): path + (name(hint.index, lowLatency.hints) ?? Self.none)
            case .renditionReport(let report): name(report.index, lowLatency.reports).map(link) ?? path + Self.none
            }
        }
    }

    /// The file of a URL that leads nowhere.
    static let none = "none"

    private func name(_ index: Int, _ names: [String?]) -> String? {
        names.indices.contains(index) ? names[index] : nil
    }

    private func file(of segment: Segment) -> String? {
        names.map { $0.file(of: segment) } ?? (files.indices.contains(segment.index) ? files[segment.index] : nil)
    }

    /// The absolute URL of a relative URI that Weir does not serve, such as that of an unknown METHOD.
    static func absolute(_ uri: String, _ base: WebURL) -> String? {
        WebURL.isRelative(uri) && !uri.isEmpty ? (try? base.resolving(uri))?.text : nil
    }
}

/// A multivariant playlist.
struct EntryDraft: Sendable {
    enum Choice: Sendable {
        /// All lines; the variants that these complete renditions play come first.
        case all(complete: Set<Int>)
        /// Only what these renditions play.
        case listing(Set<Int>)
        /// The variants that these renditions play, with all their EXT-X-MEDIA lines.
        case variants(Set<Int>)
        /// All lines but those of these renditions.
        case without(Set<Int>)
        /// One variant with the playlist of another one.
        case ladder(best: Variant, base: Int, places: Set<Int>)

        /// True if both are the same choice from one playlist.
        func isEqual(to other: Choice) -> Bool {
            switch (self, other) {
            case (.all(let one), .all(let two)), (.listing(let one), .listing(let two)),
                (.variants(let one), .variants(let two)), (.without(let one), .without(let two)):
                one == two
            case (.ladder(let best, let base, let places), .ladder(let other, let otherBase, let otherPlaces)):
                best.index == other.index && base == otherBase && places == otherPlaces
            default: false
            }
        }
    }

    let playlist: MultivariantPlaylist
    let choice: Choice
    let prefix: SessionPrefix
    /// By index of the rendition.
    let folders: [String]
    /// Paths behind the prefix: by line of the session key, by index of the session data, by index of the images.
    let keys: [Int: String]
    let data: [Int: String]
    let images: [Int: String]
    /// The tracks that are attached to the asset.
    let added: AddedTracks

    /// See `PlaylistDraft.isAlike(_:)`.
    func isAlike(_ other: EntryDraft) -> Bool {
        prefix.isAlike(other.prefix) && choice.isEqual(to: other.choice) && playlist.hasSameText(as: other.playlist)
            && folders == other.folders && keys == other.keys && data == other.data && images == other.images
            && added == other.added
    }

    func text() throws(PlaylistError) -> [UInt8]? {
        guard let text = try ownText() else { return nil }
        return try added.added(to: text) { prefix.description + $0 }
    }

    private func ownText() throws(PlaylistError) -> [UInt8]? {
        switch choice {
        case .all(let complete):
            try playlist.rendered(first: playlist.initialChoice(of: complete)) { name($0) }
        case .listing(let places): try playlist.stored(renditions: places) { name($0) }
        case .variants(let places): try playlist.stored(renditions: places, listsAllMedia: true) { name($0) }
        case .without(let places): try playlist.rendered(without: places) { name($0) }
        case .ladder(let best, let base, let places):
            try playlist.rendered(only: best, among: places) { reference in
                if case .variant = reference { return media(base) }
                return name(reference)
            }
        }
    }

    private func name(_ reference: MultivariantPlaylist.Reference) -> String? {
        if let index = reference.renditionIndex { return media(index) }
        return switch reference {
        case .sessionKey(let key): keys[key.line].map { prefix.description + $0 }
        case .sessionData(let data): self.data[data.index].map { prefix.description + $0 }
        case .imageVariant(let images): self.images[images.index].map { prefix.description + $0 }
        case .variant, .media, .iFrameVariant, .steering: nil
        }
    }

    private func media(_ index: Int) -> String? {
        folders.indices.contains(index) ? "\(prefix)\(folders[index])/\(Route.playlistFile)" : nil
    }
}

extension MediaPlaylist {
    /// The size of the work of writing it, as in `PureWork.small`. Each segment gets a name, however short its lines are.
    fileprivate var writingSize: Int { max(text.write().count, 64 * segments.count) }
}

extension PlayerView {
    /// True if a playlist is written at once.
    func isSmall(_ source: Rendition.Source) -> Bool { source.playlist.writingSize <= PureWork.small }

    /// The draft of a rendition's playlist; see `media(_:_:isLast:cut:)`.
    func draft(
        _ rendition: Rendition, _ source: Rendition.Source, isLast: Bool = false, cut: MediaPlaylistCut? = nil
    ) async throws(PlaylistError) -> PlaylistDraft {
        guard !isSmall(source) else { return .text(try media(rendition, source, isLast: isLast, cut: cut)) }
        let playlist = source.playlist
        let isKnown =
            source.isDurable && rendition.source?.isDurable ?? false
            && rendition.source?.playlist.hasSameText(as: playlist) ?? false
        // All at one moment: the playlist may be replaced between two slices. The parser limits what has no prepared names.
        let files = isKnown ? rendition.segmentFiles : []
        let maps =
            isKnown ? rendition.sectionFiles : playlist.maps.map { rendition.name(of: $0, in: source).description }
        let keys = isKnown ? rendition.keyNumbers : playlist.keys.map { rendition.number(of: $0, in: source) }
        let names: Rendition.SegmentNames? = isKnown ? nil : rendition.segmentNames(in: source)
        let isRelayed = playlist.isLowLatency && playlist.isLive && !source.isRecorded && cut == nil
        let lowLatency = isRelayed ? lowLatencyNames(rendition, source) : MediaDraft.LowLatencyNames()
        var (presentations, lists, slice) = ([Int: String](), [Int: String](), LoopSlice())
        for range in playlist.dateRanges {
            if range.index % 64 == 0 { await slice.giveWay() }
            guard range.isInterstitial else { continue }
            presentations[range.index] =
                base.isEmpty
                ? interstitial(range.assetURI, .presentation, rendition, source)
                : presentation(range, rendition, source)
            lists[range.index] = interstitial(range.assetList, .list, rendition, source)
        }
        return .media(
            MediaDraft(
                playlist: playlist, base: source.base, view: form(of: source, isLast: isLast, isCut: cut != nil),
                cut: cut, prefix: prefix,
                folder: rendition.name.id,
                files: files, names: names, maps: maps, keys: keys, presentations: presentations, lists: lists,
                lowLatency: lowLatency))
    }

    private func lowLatencyNames(_ rendition: Rendition, _ source: Rendition.Source) -> MediaDraft.LowLatencyNames {
        let playlist = source.playlist
        return MediaDraft.LowLatencyNames(
            parts: playlist.parts.map { rendition.name(of: $0, in: source)?.description },
            hints: playlist.preloadHints.map { rendition.name(of: $0, in: source)?.description },
            reports: playlist.renditionReports.map {
                asset.rendition(reportedAs: $0.uri, base: source.base).map { "\($0.name.id)/\(Route.playlistFile)" }
            })
    }

    /// The draft of the entry playlist; see `entry(stored:)`.
    /// - Parameter dead: what is left out because only dead hosts have it.
    func draft(stored: Set<Int>? = nil, without dead: DeadParts = DeadParts()) async throws(PlaylistError)
        -> PlaylistDraft
    {
        if asset.multivariant != nil {
            if let stored { return draft(listing: stored) }
            if !dead.renditions.isEmpty { return draft(.without(dead.renditions), isStored: false) }
            return draft(.all(complete: asset.completeRenditions), isStored: false)
        }
        guard let rendition = asset.renditions.first, stored == nil || rendition.isComplete,
            let source = rendition.source
        else { return .text(nil) }
        if let master = try master(of: rendition) { return .text(master) }
        return try await draft(rendition, source, cut: dead.cut)
    }

    /// The multivariant playlist that an asset with a lone media playlist needs for its attached tracks; nil without any.
    private func master(of lone: Rendition) throws(PlaylistError) -> [UInt8]? {
        let added = asset.addedTracks
        guard !added.isEmpty else { return nil }
        let text = lone.masterText(uri: "\(prefix)\(lone.name.id)/\(Route.playlistFile)")
        return try added.added(to: text) { "\(prefix)\($0)" }
    }

    /// - Parameter isCut: false to list also what is not stored of the renditions.
    func draft(_ stretches: PlayableRanges, isCut: Bool) async throws(PlaylistError) -> PlaylistDraft {
        if asset.multivariant != nil { return draft(listing: Set(stretches.cuts.keys)) }
        guard let lone = asset.renditions.first, let source = lone.source else { return .text(nil) }
        if let master = try master(of: lone) { return .text(master) }
        let cut = isCut ? stretches.cuts[lone.place] : nil
        return try await draft(lone, source, cut: cut)
    }

    /// The draft of the entry playlist with only the renditions at these places in `MultivariantPlaylist.renditionURIs`.
    func draft(listing renditions: Set<Int>) -> PlaylistDraft { draft(.listing(renditions), isStored: true) }

    /// The draft of the entry playlist with the stored variants, and all that a viewer may choose beside them.
    func draftOfStoredVariants() -> PlaylistDraft { draft(.variants(asset.completeRenditions), isStored: false) }

    /// The draft of a single variant: the attributes of the best variant, and the playlist of the one whose segments are
    /// substituted. `listed` is nil if the origin is available.
    func draft(_ ladder: Ladder, listing listed: Set<Int>?) -> PlaylistDraft {
        let places = listed ?? Set(asset.renditions.filter { !$0.name.isIFramesOnly }.map(\.place))
        return draft(.ladder(best: ladder.best, base: ladder.base.place, places: places), isStored: listed != nil)
    }

    /// - Parameter isStored: true to name only stored files.
    private func draft(_ choice: EntryDraft.Choice, isStored: Bool) -> PlaylistDraft {
        guard let multivariant = asset.multivariant else { return .text(nil) }
        var (keys, data, images) = ([Int: String](), [Int: String](), [Int: String]())
        for key in multivariant.sessionKeys {
            keys[key.line] =
                isStored ? asset.storedFile(of: .sessionKey(key)) : asset.number(of: key).map { "keys/\($0).key" }
        }
        for line in multivariant.sessionData {
            data[line.index] =
                isStored
                ? asset.storedFile(of: .sessionData(line))
                : asset.sessionData.name(of: line).map { "\(asset.sessionData.folder.id)/\($0)" }
        }
        for (index, rendition) in asset.images.enumerated() where !isStored || rendition.isComplete {
            images[index] = "\(rendition.name.id)/\(Route.playlistFile)"
        }
        return .entry(
            EntryDraft(
                playlist: multivariant, choice: choice, prefix: prefix, folders: asset.renditions.map(\.name.id),
                keys: keys, data: data, images: images, added: asset.addedTracks))
    }
}
