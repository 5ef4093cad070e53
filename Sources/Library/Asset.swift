public import EventLoop
public import Fetching
public import HTTPMessage
public import Origin
public import Playlist
public import Store

/// One HLS presentation, known by an id of ours and reached through an origin URL.
///
/// The URL is a way to fetch, never the identity: tokens expire and hosts move.
@LoopActor public final class Asset {
    /// What the origin URL leads to.
    public enum Entry: Sendable {
        /// A choice of variants and renditions, mirrors folded into one.
        case multivariant(MultivariantPlaylist, base: WebURL)
        /// One media playlist, which is the asset's only rendition.
        case media
    }

    /// Also the bundle's name: small letters, digits and `-`. Never changes.
    public let id: String
    /// What the user calls it. Another one after `Library.rename`.
    public internal(set) var name: String
    /// For display, if the user gave it.
    public internal(set) var title: String?
    /// See `artworkKind`; nil before it was looked for.
    var knownArtwork: Artwork.Kind??
    /// The URL that leads to it, with whatever secrets it has. Another one after `Library.follow`.
    public internal(set) var origin: WebURL
    /// When it was first asked for, in seconds since 1970.
    public let created: Int64
    /// `verified`, once it was read.
    package var knownVerified: Int64??
    /// Its origin's new content, while that is not in its place; see `Library.revise`.
    public internal(set) var revision: Asset?
    /// The id of the asset of which it is that.
    public internal(set) var revises: String?
    /// Its policy, when it was played, and what was purged.
    public package(set) var life = StorageLife() {
        didSet {
            bundle.isExcludedFromBackups = life.policy.isExcludedFromBackups
            keys.adopt(life.policy.keys)
        }
    }
    /// What its requests may have of the user's own: as `origin` says, but for what another asset's playlist led to. New
    /// content has it in common with the old.
    var access: OriginAccess
    /// The keys of all its renditions.
    public let keys: KeyRing
    /// What its EXT-X-SESSION-DATA lines lead to.
    public let sessionData: SessionDataShelf
    /// What the URL leads to; nil before it was fetched.
    public private(set) var entry: Entry? {
        get { awake { knownEntry } }
        set { knownEntry = newValue }
    }
    /// In the order of `MultivariantPlaylist.renditionURIs`; one for a media playlist.
    public private(set) var renditions: [Rendition] {
        get { awake { knownRenditions } }
        set { knownRenditions = newValue }
    }
    /// Media playlists of pictures, in the order of `MultivariantPlaylist.imageVariants`.
    public private(set) var images: [Rendition] {
        get { awake { knownImages } }
        set { knownImages = newValue }
    }
    /// What its playlists name to be played in between.
    public var interstitials = Interstitials()

    package let bundle: Bundle
    /// Whether the catalogue has it: only an asset with something to keep goes there.
    package var isPersistent = false
    /// Whether it is only looked at, or a guest: it is not registered, and nothing of it is written.
    package var isPreview = false
    /// When the origin was last asked for the entry, and whether it answered.
    var checked: (at: ContinuousClock.Instant, isPresent: Bool)?
    /// Where renditions are now, by their places, as a text said that is none of this asset's otherwise.
    var moved: [Int: [WebURL]] = [:]
    /// Whether the origin offers another choice of renditions than the one that pieces are stored of.
    var isOutdated = false
    /// The asking for fresh URLs that is under way, which others join, and how often it may be done.
    var renewal: Task<Void, Never>?
    var pace = RenewalPace()
    /// The check under way, which others join.
    var checking: Task<Result<Bool, LibraryError>, Never>?
    /// The comparison with the disk that is under way, which others join.
    var surveying: Task<Void, Never>?
    /// Why what belongs to it cannot be noted in the catalogue, and therefore not be kept; nil when nothing is amiss.
    package var saveFailure: StoreError?
    /// The library, once the asset is registered.
    weak var observer: (any AssetObserver)?
    /// The whole renditions as they stand in the bundle's own playlists.
    var published: Set<Int> = []
    /// Which pieces stand in for which.
    var composites = Composites()
    /// Grows whenever other renditions take the place of those that there were.
    private(set) var edition = 0
    /// Why nothing of it can be used, in a sentence: its bundle is of a newer format. Nil for nearly all.
    public internal(set) var refusal: String?
    private var knownEntry: Entry?
    private var knownRenditions: [Rendition] = []
    private var knownImages: [Rendition] = []
    private var byID: [String: Rendition] = [:]
    private var addresses = RenditionAddresses([])
    private var unread: (() -> Void)?
    private var wakings: [() -> Void] = []

    package init(
        id: String, name: String, title: String?, origin: WebURL, access: OriginAccess? = nil, created: Int64,
        store: Store
    ) {
        self.id = id
        self.name = name
        self.title = title
        self.origin = origin
        self.access = access ?? OriginAccess(to: origin)
        self.created = created
        bundle = Bundle(id: id, store: store)
        keys = KeyRing(in: bundle)
        sessionData = SessionDataShelf(in: bundle)
        bundle.owner = self
        keys.observer = self
    }

    // MARK: Sleep

    /// Whether nobody has needed its playlists yet, which are read when somebody does: most assets of a large store are
    /// never asked for between two starts.
    public var isAsleep: Bool { unread != nil }

    /// Lets it sleep until its entry or renditions are needed.
    ///
    /// - Parameter read: reads them then; once.
    func sleep(until read: @escaping () -> Void) { unread = read }

    /// Does something as soon as its playlists are read; at once where they are.
    public func whenAwake(_ body: @escaping () -> Void) {
        if isAsleep { wakings.append(body) } else { body() }
    }

    /// Reads its playlists, if nobody has yet.
    public func wake() {
        guard let unread else { return }
        self.unread = nil
        unread()
        let wakings = wakings
        self.wakings = []
        for body in wakings { body() }
    }

    private func awake<Value>(_ body: () -> Value) -> Value {
        wake()
        return body()
    }

    /// The header fields that the user gave for the origin of its URL. Secret.
    public var fields: UserFields { access.fields }

    /// Whether it was removed: nothing of it is fetched or written any more.
    public var isRemoved: Bool { bundle.isRemoved }

    /// The rendition with this id.
    public func rendition(_ id: String) -> Rendition? {
        awake { byID[id] ?? knownImages.first { $0.name.id == id } }
    }

    /// The folder with this name in the bundle: a rendition's, `keys` or `data`.
    public func folder(_ id: String) -> PieceFolder? {
        switch id {
        case keys.folder.id: keys.folder
        case sessionData.folder.id: sessionData.folder
        default: rendition(id)?.folder
        }
    }

    /// The resource that a name in one of its folders stands for; nil if nothing leads to it any more.
    public func resource(_ name: PieceName, in folder: PieceFolder) -> Resource? {
        if folder === sessionData.folder { return sessionData.resource(named: name) }
        if case .key(let number) = name.role { return folder === keys.folder ? keys.resource(number) : nil }
        return rendition(folder.id)?.resource(named: name)
    }

    /// Every folder of its bundle.
    package var folders: [PieceFolder] { [keys.folder, sessionData.folder] + (renditions + images).map(\.folder) }

    /// The multivariant playlist, where there is one.
    public var multivariant: MultivariantPlaylist? {
        if case .multivariant(let playlist, _) = entry { playlist } else { nil }
    }

    // MARK: Entry

    /// Takes what the URL leads to. Renditions that were there stay, with what is known of them: the new text may have
    /// fresh tokens in its URIs, and other hosts.
    ///
    /// - Returns: those that were there and are not any more; another may have the same name now.
    @discardableResult package func adopt(_ playlist: MultivariantPlaylist, base: WebURL) -> [Rendition] {
        let mirrors = playlist.mirrors
        let folded = playlist.folded(mirrors)
        let places = multivariant.map { folded.places(in: $0) }
        entry = .multivariant(folded, base: base)
        (moved, isOutdated) = ([:], false)
        for key in playlist.sessionKeys where key.isFetchable {
            if let url = try? base.resolving(key.uri) { keys.add(url) }
        }
        sessionData.adopt(playlist.sessionData, base: base)
        let names = RenditionNaming(playlist).names
        let gone = adopt(mirrors.map { names[$0[0]] }, places: places)
        images = ImageRenditions.names(playlist).map { name in
            images.first { $0.name == name } ?? Rendition(name, bundle: bundle, keys: keys)
        }
        addresses = RenditionAddresses(renditions.map { ($0, urls(of: $0)) })
        // A store may know a mirror as a rendition of its own.
        for (rendition, set) in zip(renditions, mirrors) {
            for place in set.dropFirst() { byID[names[place].id] = rendition }
        }
        return gone
    }

    /// Takes the lone media playlist that the URL leads to.
    func adopt(_ source: Rendition.Source, began: ContinuousClock.Instant = .now) {
        adoptLone()
        renditions[0].adopt(source, began: began)
    }

    /// Takes note that the URL leads to a lone media playlist, whatever that says.
    package func adoptLone() {
        if multivariant != nil { renditions = [] }
        entry = .media
        adopt([RenditionNaming.lone], places: [0])
        (moved, isOutdated) = ([:], false)
    }

    /// The rendition of a lone media playlist, before and after it is adopted.
    package var lone: Rendition? { multivariant == nil ? renditions.first : nil }

    /// - Parameter places: where each was before; nil where there was nothing to compare with.
    @discardableResult private func adopt(_ names: [RenditionNaming.Name], places: [Int?]?) -> [Rendition] {
        let former = renditions
        edition += 1
        composites = Composites()
        renditions = names.enumerated().map { index, name in
            if let known = known(name, at: places?[index], in: former) { return known }
            // Players know the folder; there is one of each name.
            let folder = former.first { $0.name.id == name.id }?.folder
            return Rendition(name, bundle: bundle, keys: keys, folder: folder)
        }
        for (place, rendition) in renditions.enumerated() { rendition.place = place }
        byID = Dictionary(uniqueKeysWithValues: renditions.map { ($0.name.id, $0) })
        return former.filter { !has($0) }
    }

    /// What is known under a name: the same rendition as before, or one of which nothing is known that could be wrong
    /// now.
    private func known(_ name: RenditionNaming.Name, at place: Int?, in former: [Rendition]) -> Rendition? {
        if let place, former.indices.contains(place), former[place].name == name { return former[place] }
        guard let known = byID[name.id], known.name == name, !(known.source?.isDurable ?? false) else { return nil }
        return known
    }

    /// Where a rendition's playlist is, as the entry says: at each of its mirrors, in the order of the text.
    func urls(of rendition: Rendition) -> [WebURL] {
        guard case .multivariant(let playlist, let base) = entry else { return [origin] }
        if has(rendition) {
            return moved[rendition.place]
                ?? playlist.uris(ofRendition: rendition.place).compactMap { try? base.resolving($0) }
        }
        guard let index = images.firstIndex(where: { $0 === rendition }) else { return [] }
        return [playlist.imageVariants[index].uri].compactMap { try? base.resolving($0) }
    }

    /// Whether a rendition is at more than one place.
    func hasMirrors(_ rendition: Rendition) -> Bool {
        guard let multivariant, has(rendition) else { return false }
        return multivariant.uris(ofRendition: rendition.place).count > 1
    }

    /// Whether it is still one of this asset's.
    private func has(_ rendition: Rendition) -> Bool {
        renditions.indices.contains(rendition.place) && renditions[rendition.place] === rendition
    }

    /// The rendition that an EXT-X-RENDITION-REPORT speaks of, by a URI in a playlist that came from `base`; nil if it
    /// is none of this asset's. The tag need not repeat the query that the multivariant playlist has, where tokens are.
    public func rendition(reportedAs uri: String, base: WebURL) -> Rendition? {
        guard let wanted = try? base.resolving(uri) else { return nil }
        wake()
        return addresses[wanted] ?? renditions.first { $0.source?.base == wanted }
    }

    /// Keeps none of its folders open, where many assets are gone through: there are fewer descriptors than folders.
    package func letGo() {
        bundle.close()
        for folder in folders { folder.letGo() }
    }

    var record: AssetRecord {
        AssetRecord(
            id: id, name: name, title: title, origin: origin.text, created: created, fields: access.fields.record,
            revises: revises, fromNetwork: access.namesPeer ? nil : true)
    }
}

extension Asset: BundleOwner, KeyRingObserver {
    /// See `BundleOwner`.
    package func folder(_ folder: PieceFolder, gained file: String) {
        if folder === keys.folder {
            if case .key(let number)? = PieceName(file)?.role { observer?.asset(self, gainedKey: number) }
        } else if folder === sessionData.folder || knownImages.contains(where: { $0.folder === folder }) {
            return
        }
        if wholeRenditions != published { observer?.assetCompletedRenditions(self) }
    }

    /// See `BundleOwner`.
    package func bundle(_ bundle: Bundle, lostPiece error: StoreError) { observer?.asset(self, lostPiece: error) }

    /// See `BundleOwner`.
    package func bundleChanged(_ bundle: Bundle) { observer?.assetChangedPieces(self) }

    func keyRing(_ keys: KeyRing, expired numbers: [Int]) { observer?.asset(self, expiredKeys: numbers) }
}

/// Follows the stored pieces and keys of an asset: the library.
@LoopActor protocol AssetObserver: AnyObject {
    /// A key's file was stored.
    func asset(_ asset: Asset, gainedKey number: Int)
    /// The keys with these numbers have expired. Called once for each key, within a question whether it may be used.
    func asset(_ asset: Asset, expiredKeys numbers: [Int])
    /// Other renditions are complete than stand in the bundle's own playlists.
    func assetCompletedRenditions(_ asset: Asset)
    /// The disk has lost a stored piece.
    func asset(_ asset: Asset, lostPiece error: StoreError)
    /// Pieces were stored or deleted, or the folders moved.
    func assetChangedPieces(_ asset: Asset)
}
