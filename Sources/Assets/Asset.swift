public import EventLoop
public import Fetching
public import HLS
public import HTTPMessage
import Orders
public import Origin
public import Store

/// One HLS presentation, identified by Weir's own id: tokens in its origin URL expire, and hosts change.
@LoopActor public final class Asset {
    /// The kind of playlist at the origin URL. Indirect, because it is large, and most assets have none in memory.
    public indirect enum Entry: Sendable {
        /// A choice of variants and renditions. Mirrors are merged into one variant.
        case multivariant(MultivariantPlaylist, base: WebURL)
        /// One media playlist, which is the asset's only rendition.
        case media
    }

    /// A request for the entry playlist.
    struct EntryCheck {
        let at: ContinuousClock.Instant
        /// True if the origin answered.
        let isPresent: Bool
        /// True if a player waited for it.
        var isForPlayer = false
    }

    /// Also the bundle's name: lower-case letters, digits and `-`. Never changes.
    public let id: String
    /// The user's name for the asset. `Library.rename` changes it.
    public internal(set) var name: String
    /// For display; nil if the user gave none.
    public internal(set) var title: String?
    /// The user's description; nil without one, and for one that came with a download.
    public package(set) var note: String?
    /// Caches `artworkKind`; nil before the first lookup.
    package var knownArtwork: Artwork.Kind??
    /// The URL of the asset, secrets included. `Relocation.follow` changes it.
    public internal(set) var origin: WebURL
    /// Time of the first request, in seconds since 1970.
    public let created: Int64
    /// Caches `additions`; nil before the first use.
    var knownAdditions: Additions?
    /// Caches `verified`; nil before the first read.
    package var knownVerified: Int64??
    /// New content of the origin that has not replaced this asset yet; see `Revisions.revise`.
    public internal(set) var revision: Asset?
    /// For a revision: the id of the asset that it revises.
    public internal(set) var revises: String?
    /// The storage policy, the times of playback, and the latest purge.
    public package(set) var life: StorageLife {
        get { unusualLife ?? StorageLife() }
        set {
            unusualLife = newValue == StorageLife() ? nil : newValue
            bundle.isExcludedFromBackups = newValue.policy.backup == .exclude
            knownKeys?.adopt(newValue.policy.keys)
        }
    }
    @Rare private var unusualLife: StorageLife?
    /// The rights of its requests: the user's header fields and a private address. They belong to `origin`; an
    /// interstitial asset has those of the asset that names it. A revision shares the rights of its asset.
    var access: OriginAccess
    /// Counts the requests that no player waits for.
    package var traffic: TrafficTally { access.traffic }
    /// The keys of all its renditions.
    public var keys: KeyRing {
        if let knownKeys {
            return knownKeys
        }
        let made = KeyRing(in: bundle)
        made.asset = self
        made.adopt(life.policy.keys)
        knownKeys = made
        return made
    }
    /// Nil until it is needed: most assets have no keys.
    private var knownKeys: KeyRing?
    /// True if no key of it has expired, or will.
    package var hasLastingKeys: Bool { knownKeys?.areLasting ?? true }
    /// True if a playlist names a key.
    package var hasKeys: Bool { !(knownKeys?.isEmpty ?? true) }
    /// The resources of its EXT-X-SESSION-DATA tags.
    public var sessionData: SessionDataShelf {
        if let knownSessionData {
            return knownSessionData
        }
        let made = SessionDataShelf(in: bundle)
        knownSessionData = made
        return made
    }
    /// Nil until it is needed: most assets have no such tags.
    private var knownSessionData: SessionDataShelf?
    /// The playlist at the origin URL; nil before it was fetched.
    public private(set) var entry: Entry? {
        get { loaded { knownEntry } }
        set { knownEntry = newValue }
    }
    /// In the order of `MultivariantPlaylist.renditionURIs`; one element for a media playlist.
    public private(set) var renditions: [Rendition] {
        get { loaded { knownRenditions } }
        set { knownRenditions = newValue }
    }
    /// Media playlists of images, in the order of `MultivariantPlaylist.imageVariants`.
    public private(set) var images: [Rendition] {
        get { loaded { knownImages } }
        set { knownImages = newValue }
    }
    /// The interstitials that its playlists name.
    public var interstitials = Interstitials()
    package let bundle: Bundle
    /// True if the catalogue contains the asset. An asset without stored pieces is not in the catalogue.
    package var isPersistent = false
    /// True for a preview or an interstitial asset: it is not registered, and none of it is written to disk.
    package var isPreview = false
    /// Time and result of the latest request for the entry playlist.
    var checked: EntryCheck?
    /// The beginning of the present request of players for the entry playlist; nil without one.
    var checkBegan: ContinuousClock.Instant?
    /// New URLs of renditions, by place, from a playlist that otherwise does not fit this asset.
    var moved: [Int: [WebURL]] = [:]
    /// True if the origin offers another choice of renditions than the stored one.
    var isOutdated = false
    /// True if the origin has other segments than the stored ones under the same URLs: see `Revisions.check`.
    package internal(set) var hasOtherSegments = false
    var pace = RenewalPace()
    /// The error that keeps the asset out of the catalogue, and its pieces out of the store; nil if there is none.
    @Rare package var saveFailure: StoreError?
    /// The library, once the asset is registered.
    weak var library: Library?
    /// The complete renditions that the bundle's own playlists list.
    var published: Set<Int> = []
    /// Increases when the set of renditions is replaced.
    package private(set) var edition = 0 {
        didSet { editions.count += 1 }
    }
    private let editions = PlaylistEditions()
    /// Increases when the set of renditions or the playlist of one is replaced.
    package var playlistChanges: Int { editions.count }
    /// The reason why the asset is unusable, as a sentence: its bundle has a newer format. Nil for nearly all assets.
    public internal(set) var refusal: String?
    private var knownEntry: Entry?
    /// `renditions` as far as they are loaded.
    private(set) var knownRenditions: [Rendition] = []
    private var knownImages: [Rendition] = []
    private var byID: [String: Rendition] = [:]
    /// Computed when a playlist reports on another one.
    private var addresses: RenditionAddresses?
    /// See `MultivariantPlaylist.possibleMirrors`.
    private var possibleMirrors: [Int: [Int]] = [:]
    /// Loads the playlists, and then serves those that wait for it; empty once they are loaded. Closures, because only
    /// the library knows how a stored asset is read.
    private var pendingLoad: [() -> Void] = [] { didSet { updateLoaded() } }
    /// True if its playlists were in memory, and are only in the catalogue now; see `SleepingAssets`.
    public private(set) var isAsleep = false { didSet { updateLoaded() } }

    package init(
        id: String, name: String, title: String?, origin: WebURL, access: OriginAccess? = nil, created: Int64,
        store: Store
    ) {
        self.id = id
        self.name = name
        self.title = title
        self.created = created
        self.origin = origin
        self.access = access ?? OriginAccess(to: origin)
        bundle = Bundle(id: id, store: store)
        bundle.owner = self
    }

    // MARK: Loading on demand

    /// True if the playlists are loaded. They load on first use: most assets of a large store are not used.
    public private(set) var isLoaded = true

    /// Kept, because each look at a playlist asks for it.
    private func updateLoaded() { isLoaded = pendingLoad.isEmpty && !isAsleep }

    /// Postpones loading the playlists until they are used; `loader` is called at most once.
    func postponeLoading(_ loader: @escaping () -> Void) { pendingLoad = [loader] }

    /// Calls `body` as soon as the playlists are loaded; at once if they are.
    public func whenLoaded(_ body: @escaping () -> Void) {
        if isLoaded {
            body()
        } else {
            pendingLoad.append(body)
        }
    }

    /// Loads the playlists unless they are loaded.
    public func load() {
        guard !isLoaded else { return }
        let steps = pendingLoad
        let wasAsleep = isAsleep
        pendingLoad = []
        isAsleep = false
        if wasAsleep {
            library?.records.reload(self)
        }
        for step in steps {
            step()
        }
        library?.sleeping.recordUse(of: self)
    }

    /// Loads the playlists by another way than the loader's.
    func load(_ loader: @escaping () -> Void) {
        pendingLoad = [loader] + pendingLoad.dropFirst(isAsleep ? 0 : 1)
        isAsleep = false
        load()
    }

    /// True if the catalogue can give all its playlists back, and nothing else depends on them.
    var canForgetPlaylists: Bool {
        guard isLoaded, knownEntry != nil, !isRemoved, !isPreview, !isComposed, isHome, refusal == nil,
            saveFailure == nil,
            revision == nil, !isRevision, moved.isEmpty, !hasChanged
        else { return false }
        return (knownRenditions + knownImages).allSatisfy(\.canForgetPlaylist)
    }

    /// The length of its playlists in memory, in bytes.
    var textSize: Int {
        let own = multivariant?.text.write().count ?? 0
        return (knownRenditions + knownImages).reduce(own) { $0 + ($1.source?.playlist.text.write().count ?? 0) }
    }

    /// Forgets the playlists until the next use, and frees what can be made again.
    func sleep() {
        knownEntry = nil
        knownRenditions = []
        knownImages = []
        byID = [:]
        addresses = nil
        possibleMirrors = [:]
        interstitials = Interstitials()
        knownSessionData = nil
        if knownKeys?.isUnused ?? false {
            knownKeys = nil
        } else {
            knownKeys?.forgetFolder()
        }
        knownAdditions = nil
        edition += 1
        isAsleep = true
    }

    private func loaded<Value>(_ body: () -> Value) -> Value {
        load()
        return body()
    }

    /// The header fields that the user gave for the origin of the asset's URL. Secret.
    public var fields: UserFields { access.fields }
    /// The user's settings for the way to the origin.
    public var route: OriginRoute { access.route }
    /// True if the asset was removed. Its resources are then neither fetched nor written.
    public var isRemoved: Bool { bundle.isRemoved }

    func checkNotRemoved() throws(LibraryError) {
        if isRemoved {
            throw LibraryError(.missing, "\(name) was removed")
        }
    }

    package func saveError(about what: String) -> LibraryError {
        saveFailure.map { LibraryError($0, about: what) } ?? LibraryError(.missing, "\(name) was removed")
    }

    /// Returns the rendition with this id, also one that is not the presentation's own: see `additions`.
    public func rendition(_ id: String) -> Rendition? {
        loaded { byID[id] ?? knownImages.first { $0.name.id == id } ?? additions.renditions[id] }
    }

    /// Returns the folder with this name in the bundle: a rendition's, `keys` or `data`.
    public func folder(_ id: String) -> PieceFolder? {
        switch id {
        case keys.folder.id: keys.folder
        case sessionData.folder.id: sessionData.folder
        default: rendition(id)?.folder
        }
    }

    /// Returns the resource with this name in one of the asset's folders; nil if no playlist names it any more.
    public func resource(_ name: PieceName, in folder: PieceFolder) -> Resource? {
        load()
        if folder === sessionData.folder {
            return sessionData.resource(named: name)
        }
        if case .key(let number) = name.role {
            return folder === keys.folder ? keys.resource(number) : nil
        }
        return rendition(folder.id)?.resource(named: name)
    }

    /// All folders of its bundle.
    package var folders: [PieceFolder] {
        [keys.folder, sessionData.folder] + (renditions + images + additions.sorted).map(\.folder)
    }

    /// The multivariant playlist; nil if the asset is a lone media playlist.
    public var multivariant: MultivariantPlaylist? {
        if case .multivariant(let playlist, _) = entry {
            playlist
        } else {
            nil
        }
    }

    // MARK: Entry

    /// Adopts a multivariant playlist. Known renditions stay with their state; tokens and hosts may have changed.
    /// Returns the renditions that are gone; a new one may have the same name.
    @discardableResult package func adopt(_ playlist: MultivariantPlaylist, base: WebURL) -> [Rendition] {
        adopt(playlist, base: base, EntryPlan(playlist, known: multivariant))
    }

    @discardableResult func adopt(_ playlist: MultivariantPlaylist, base: WebURL, _ plan: EntryPlan) -> [Rendition] {
        moved = [:]
        isOutdated = false
        entry = .multivariant(plan.folded, base: base)
        for url in playlist.sessionKeys.compactMap({ $0.url(base: base) }) {
            keys.add(url)
        }
        sessionData.adopt(playlist.sessionData, base: base)
        let names = plan.names
        let mirrors = plan.mirrors
        let gone = adopt(mirrors.map { names[$0[0]] }, places: plan.places)
        possibleMirrors = plan.possibleMirrors
        let former = Dictionary(images.map { ($0.name.id, $0) }) { first, _ in first }
        images = plan.images.map { name in
            former[name.id].flatMap { $0.name == name ? $0 : nil }
                ?? Rendition(name, bundle: bundle, keys: keys, editions: editions)
        }
        addresses = nil
        // The store may know a mirror as a rendition of its own.
        for (rendition, set) in zip(renditions, mirrors) {
            for place in set.dropFirst() {
                byID[names[place].id] = rendition
            }
        }
        return gone
    }

    func adopt(_ source: Rendition.Source, began: ContinuousClock.Instant = .now) {
        adoptLone()
        renditions[0].adopt(source, began: began)
    }

    /// Makes the asset a lone media playlist whose content is still unknown.
    package func adoptLone() {
        if multivariant != nil {
            renditions = []
        }
        possibleMirrors = [:]
        entry = .media
        adopt([RenditionNaming.lone], places: [0])
        moved = [:]
        isOutdated = false
    }

    /// The rendition of a lone media playlist, before and after it is adopted.
    package var lone: Rendition? { multivariant == nil ? renditions.first : nil }

    /// - Parameter places: the former place of each; nil if there was nothing to compare with.
    @discardableResult private func adopt(_ names: [RenditionNaming.Name], places: [Int?]?) -> [Rendition] {
        let former = renditions
        let folders = Dictionary(former.map { ($0.name.id, $0.folder) }) { first, _ in first }
        renditions = names.enumerated().map { index, name in
            if let known = known(name, at: places?[index], in: former) {
                return known
            }
            // Players know the folder; each name has only one.
            let folder = folders[name.id]
            return Rendition(name, bundle: bundle, keys: keys, editions: editions, folder: folder)
        }
        for (place, rendition) in renditions.enumerated() {
            rendition.place = place
        }
        byID = Dictionary(uniqueKeysWithValues: renditions.map { ($0.name.id, $0) })
        // A text with fresh tokens changes nothing that is computed from the playlists.
        let isSame =
            renditions.elementsEqual(former, by: ===) && (places ?? []).elementsEqual(renditions.indices.map { $0 })
        if !isSame {
            edition += 1
        }
        return former.filter { !has($0) }
    }

    /// The known rendition with a name: the same as before, or one without any state that could be wrong now.
    private func known(_ name: RenditionNaming.Name, at place: Int?, in former: [Rendition]) -> Rendition? {
        if let place, former.indices.contains(place), former[place].name == name {
            return former[place]
        }
        guard let known = byID[name.id], known.name == name, !(known.source?.isDurable ?? false) else { return nil }
        return known
    }

    /// The URLs of a rendition's playlist from the entry: one for each mirror, in the order of the playlist.
    func urls(of rendition: Rendition) -> [WebURL] {
        guard case .multivariant(let playlist, let base) = entry else { return [origin] }
        if has(rendition) {
            return moved[rendition.place]
                ?? playlist.uris(ofRendition: rendition.place).compactMap { try? base.resolving($0) }
        }
        guard let index = images.firstIndex(where: { $0 === rendition }) else { return [] }
        return [playlist.imageVariants[index].uri].compactMap { try? base.resolving($0) }
    }

    /// `urls`, and behind them those of lines on the same host that may be mirrors.
    func candidateURLs(of rendition: Rendition) -> [WebURL] {
        guard has(rendition), let places = possibleMirrors[rendition.place] else { return urls(of: rendition) }
        return urls(of: rendition) + places.flatMap { urls(of: renditions[$0]) }
    }

    /// True if the media of its sources must be compared, because only the attributes of lines say that it is the same.
    func hasPossibleMirrors(_ rendition: Rendition) -> Bool {
        has(rendition) && possibleMirrors[rendition.place] != nil
    }

    func hasMirrors(_ rendition: Rendition) -> Bool {
        guard let multivariant, has(rendition) else { return false }
        return multivariant.uris(ofRendition: rendition.place).count > 1
    }

    /// True if the rendition still belongs to this asset.
    package func has(_ rendition: Rendition) -> Bool {
        renditions.indices.contains(rendition.place) && renditions[rendition.place] === rendition
    }

    /// The rendition of an EXT-X-RENDITION-REPORT, whose URI need not repeat tokens in the query; nil for no known one.
    public func rendition(reportedAs uri: String, base: WebURL) -> Rendition? {
        guard let wanted = try? base.resolving(uri) else { return nil }
        load()
        let addresses = addresses ?? RenditionAddresses(renditions.map { ($0, urls(of: $0)) })
        self.addresses = addresses
        // After a redirect; not in a presentation of thousands, whose playlists may report on as many.
        return addresses[wanted] ?? renditions.prefix(100).first { $0.source?.base == wanted }
    }

    /// Closes its folders. A loop over many assets needs this, because there are fewer file descriptors than folders.
    package func close() {
        bundle.close()
        for folder in folders {
            folder.closeDirectory()
        }
    }

    var record: AssetRecord {
        var record = AssetRecord(
            id: id, name: name, title: title, origin: origin.text, created: created, fields: access.fields.record,
            revises: revises, fromNetwork: access.namesPeer ? nil : true, route: access.route.record)
        record.note = note
        return record
    }

    package var storageRecord: StorageRecord { StorageRecord(asset: id, life) }
    var volumeRecord: VolumeRecord { VolumeRecord(asset: id, in: bundle.place, other: bundle.other) }
}

/// Counts the replacements of an asset's playlists. Its renditions share it, so that nobody has to ask all of them.
@LoopActor final class PlaylistEditions {
    var count = 0
    nonisolated init() {}
}

extension Asset: BundleOwner {
    package func folder(_ folder: PieceFolder, gained file: String) {
        if folder === keys.folder {
            if case .key(let number)? = PieceName(file)?.role {
                library?.keys.recordKey(number, of: self)
            }
        } else if folder === sessionData.folder || knownImages.contains(where: { $0.folder === folder }) {
            return
        }
        if completeRenditions != published {
            library?.publish(self)
        }
    }

    package func bundle(_ bundle: Bundle, lostPiece error: StoreError) {
        guard let library else { return }
        library.report("\(name): the disk has lost a piece, which comes again: \(error)")
        library.events.send(.pieceLost(self))
    }

    package func bundle(_ bundle: Bundle, damagedPiece piece: String, _ fault: PieceFault) {
        guard let library, !isRemoved else { return }
        let next = library.isOffline ? "online again, repair it: weir verify \(name) --repair" : "it is fetched again"
        library.report("\(name): \(piece) is damaged (\(fault.words)), and was set aside; \(next)")
        library.rectify(self)
        library.events.send(.pieceLost(self))
    }

    package func bundleChanged(_ bundle: Bundle) { library?.summaries?.invalidate(self) }
}

extension PieceFault {
    fileprivate var words: String {
        switch self {
        case .length: "wrong length"
        case .bytes: "wrong bytes"
        case .unreadable: "unreadable"
        }
    }
}
