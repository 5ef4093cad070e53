public import EventLoop
public import Fetching
public import HLS
public import HTTPMessage
import Orders
public import Origin
public import Store

/// One HLS presentation, identified by Weir's own id: tokens in its origin URL expire, and hosts change.
@LoopActor public final class Asset {
    /// A request for the entry playlist.
    struct EntryCheck {
        let at: ContinuousClock.Instant
        /// True if the origin answered.
        let isPresent: Bool
        /// True if a player waited for it.
        var isForPlayer = false
    }

    /// The requests for the entry playlist.
    struct EntryChecks {
        /// Time and result of the latest one.
        var latest: EntryCheck?
        /// The beginning of the present request of players; nil without one.
        var began: ContinuousClock.Instant?
        var pace = RenewalPace()
    }

    /// Also the bundle's name: lower-case letters, digits and `-`. Never changes.
    public let id: String
    /// The user's name for the asset. `Library.rename` changes it.
    public internal(set) var name: String
    /// For display; nil if the user gave none.
    public internal(set) var title: String?
    /// The user's description; nil without one, and for one that came with a download.
    public package(set) var note: String?
    /// The URL of the asset, secrets included. `Relocation.follow` changes it.
    public internal(set) var origin: WebURL
    /// Time of the first request, in seconds since 1970.
    public let created: Int64
    /// Caches `verified`; nil before the first read.
    package var knownVerified: Int64??
    /// New content of the origin that has not replaced this asset yet; see `Revisions.revise`.
    public internal(set) var revision: Asset?
    /// For a revision: the id of the asset that it revises.
    public internal(set) var revises: String?
    /// For a recording: the id of the channel's asset; empty for one of an earlier Weir, for which both were one asset. A
    /// recording is found by its id and name: the URL is its channel's.
    public internal(set) var recordingOf: String?
    /// The storage policy, the times of playback, and the latest purge.
    public package(set) var life: StorageLife {
        get { unusualLife ?? StorageLife() }
        set {
            if newValue == StorageLife() {
                unusualLife = nil
            } else {
                unusualLife = newValue
            }
            bundle.isExcludedFromBackups = newValue.policy.backup == .exclude
            knownKeys?.adopt(newValue.policy.keys)
        }
    }
    @Rare private var unusualLife: StorageLife?
    /// The rights of its requests: the user's header fields and a private address. They belong to `origin`; an
    /// interstitial asset has those of the asset that names it. A revision shares the rights of its asset.
    package internal(set) var access: OriginAccess
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
    /// Its playlists and renditions, in memory or not.
    private var state = ContentState.unread(nil)
    package let bundle: Bundle
    /// True if the catalogue contains the asset. An asset without stored pieces is not in the catalogue.
    package var isPersistent = false
    /// True for a preview or an interstitial asset: it is not registered, and none of it is written to disk.
    package let isPreview: Bool
    var entryChecks = EntryChecks()
    /// True if the origin has other segments than the stored ones under the same URLs: see `Revisions.check`.
    package internal(set) var hasOtherSegments = false
    /// The error that keeps the asset out of the catalogue, and its pieces out of the store; nil if there is none.
    @Rare package var saveFailure: StoreError?
    /// The library, once the asset is registered.
    weak var library: Library?
    /// The complete renditions that the bundle's own playlists list.
    package internal(set) var published: Set<Int> = []
    private let editions = PlaylistEditions()
    /// Increases when the set of renditions or the playlist of one is replaced.
    package var playlistChanges: Int { editions.count }
    /// The reason why the asset is unusable, as a sentence: its bundle has a newer format. Nil for nearly all assets.
    public internal(set) var refusal: String?

    package init(
        id: String, name: String, title: String?, origin: WebURL, access: OriginAccess? = nil, created: Int64,
        store: BundleStore, isPreview: Bool = false
    ) {
        self.id = id
        self.name = name
        self.title = title
        self.created = created
        self.origin = origin
        self.access = access ?? OriginAccess(to: origin)
        self.isPreview = isPreview
        bundle = Bundle(id: id, store: store)
        bundle.owner = self
    }

    // MARK: Loading on demand

    /// Its playlists and renditions. They are loaded at the first use: most assets of a large store are not used.
    public var content: AssetContent { loadedContent ?? load() }
    /// Its playlists and renditions, if they are loaded.
    var loadedContent: AssetContent? {
        if case .loaded(let content) = state {
            content
        } else {
            nil
        }
    }
    /// True if the content is loaded.
    public var isLoaded: Bool { loadedContent != nil }
    /// True if the content was in memory, and is only in the catalogue now; see `SleepingAssets`.
    public var isAsleep: Bool {
        if case .asleep = state {
            true
        } else {
            false
        }
    }

    /// Postpones loading the content until it is used; `read`, which loads these rows, is called at most once.
    func postponeLoading(of rows: ContentRows, _ read: @escaping () -> Void) {
        state = .unread(UnreadContent(rows: rows, read: read))
    }

    /// The rows that the start has read of the content; nil if it was used since.
    var unreadRows: ContentRows? {
        guard case .unread(let unread, _) = state else { return nil }
        return unread?.rows
    }

    /// Calls `body` as soon as the content is loaded; at once if it is.
    public func whenLoaded(_ body: @escaping () -> Void) {
        switch state {
        case .loaded: body()
        case .unread(let unread, let waiting): state = .unread(unread, waiting: waiting + [body])
        case .asleep(let waiting): state = .asleep(waiting: waiting + [body])
        }
    }

    /// Loads the content unless it is loaded.
    @discardableResult public func load() -> AssetContent {
        switch state {
        case .loaded(let content): content
        case .unread(let unread, _): load { unread?.read() }
        case .asleep: load { library?.records.reload(self) }
        }
    }

    /// Loads the content with `read`, which adopts the playlists.
    @discardableResult func load(_ read: () -> Void) -> AssetContent {
        let waiting = state.waiting
        let content = AssetContent(in: bundle, isStored: !isPreview, keys: keys, editions: editions)
        state = .loaded(content)
        read()
        for body in waiting {
            body()
        }
        library?.sleeping.recordUse(of: self)
        return content
    }

    /// True if the catalogue can give its content back, and nothing else depends on that.
    var canForgetContent: Bool {
        guard let loadedContent, !isRemoved, !isPreview, !isComposed, isHome, refusal == nil, saveFailure == nil,
            revision == nil, !isRevision, !hasChanged
        else { return false }
        return loadedContent.canBeForgotten
    }

    /// Forgets the content until the next use, and frees what can be made again.
    func sleep() {
        state = .asleep()
        if knownKeys?.isUnused ?? false {
            knownKeys = nil
        } else {
            knownKeys?.forgetFolder()
        }
        editions.count += 1
    }

    /// The header fields that the user gave for the origin of the asset's URL. Secret.
    public var fields: UserFields { access.fields }
    /// The user's settings for the way to the origin.
    public var route: OriginRoute { access.route }
    /// True if the asset was removed. Its resources are then neither fetched nor written.
    public var isRemoved: Bool { bundle.isRemoved }

    package func checkNotRemoved() throws(LibraryError) {
        if isRemoved {
            throw LibraryError(.missing, "\(name) was removed")
        }
    }

    package func saveError(about what: String) -> LibraryError {
        guard let saveFailure else { return LibraryError(.missing, "\(name) was removed") }
        return LibraryError(saveFailure, about: what)
    }

    /// The presentation's own renditions: see `AssetContent.renditions`.
    public var renditions: [Rendition] { content.renditions }
    /// The multivariant playlist; nil if the asset is a lone media playlist.
    public var multivariant: MultivariantPlaylist? { content.multivariant }

    /// Returns the rendition with this id, also one that is not the presentation's own: see `Additions`.
    public func rendition(_ id: String) -> Rendition? { content.rendition(id) ?? content.additions.renditions[id] }

    /// Returns the rendition of a folder; nil for keys and session data.
    package func rendition(in folder: PieceFolder) -> Rendition? {
        guard let rendition = rendition(folder.id), rendition.folder === folder else { return nil }
        return rendition
    }

    /// Returns the folder with this name in the bundle: a rendition's, `keys` or `data`.
    public func folder(_ id: String) -> PieceFolder? {
        switch id {
        case keys.folder.id: keys.folder
        case content.sessionData.folder.id: content.sessionData.folder
        default: rendition(id)?.folder
        }
    }

    /// Returns the resource with this name in one of the asset's folders; nil if no playlist names it any more.
    public func resource(_ name: PieceName, in folder: PieceFolder) -> Resource? {
        let shelf = content.sessionData
        if folder === shelf.folder {
            return shelf.resource(named: name)
        }
        if case .key(let number) = name.role {
            guard folder === keys.folder else { return nil }
            return keys.resource(number)
        }
        return rendition(folder.id)?.resource(named: name)
    }

    /// All folders of its bundle.
    package var folders: [PieceFolder] {
        var folders: [PieceFolder] = []
        folders.reserveCapacity(content.renditions.count + 2)
        forEachFolder { folders.append($0) }
        return folders
    }

    /// Calls `body` for each of `folders`, without an array of them.
    package func forEachFolder(_ body: (PieceFolder) -> Void) {
        body(keys.folder)
        body(content.sessionData.folder)
        for rendition in content.renditions {
            body(rendition.folder)
        }
        for rendition in content.images + content.additions.sorted {
            body(rendition.folder)
        }
    }

    // MARK: Entry

    /// Adopts a multivariant playlist. Known renditions stay with their state; tokens and hosts may have changed.
    /// Returns the renditions that are gone; a new one may have the same name.
    @discardableResult package func adopt(_ playlist: MultivariantPlaylist, base: WebURL) -> [Rendition] {
        adopt(playlist, base: base, EntryPlan(playlist, known: multivariant))
    }

    @discardableResult func adopt(_ playlist: MultivariantPlaylist, base: WebURL, _ plan: EntryPlan) -> [Rendition] {
        content.adopt(playlist, base: base, plan)
    }

    func adopt(_ source: Rendition.Source, began: ContinuousClock.Instant = .now) {
        content.adoptLone()
        renditions[0].adopt(source, began: began)
    }

    /// The URLs of a rendition's playlist from the entry: one for each mirror, in the order of the playlist.
    func urls(of rendition: Rendition) -> [WebURL] { content.urls(of: rendition) ?? [origin] }

    /// `urls`, and behind them those of lines on the same host that may be mirrors.
    func candidateURLs(of rendition: Rendition) -> [WebURL] {
        urls(of: rendition) + content.possibleMirrors(of: rendition).flatMap { urls(of: $0) }
    }

    /// The rendition of an EXT-X-RENDITION-REPORT, whose URI need not repeat tokens in the query; nil for no known one.
    public func rendition(reportedAs uri: String, base: WebURL) -> Rendition? {
        content.rendition(reportedAs: uri, base: base, origin: origin)
    }

    /// Closes its folders. A loop over many assets needs this, because there are fewer file descriptors than folders.
    package func close() {
        bundle.close()
        for folder in folders {
            folder.closeDirectory()
        }
    }

    var record: AssetRecord {
        // Absent for the usual case, a client of this machine.
        let fromNetwork = access.namesPeer ? nil : true
        var record = AssetRecord(
            id: id, name: name, title: title, origin: origin.text, created: created, fields: access.fields.record,
            revises: revises, fromNetwork: fromNetwork, route: access.route.record, recordingOf: recordingOf)
        record.note = note
        return record
    }

    package var storageRecord: StorageRecord { StorageRecord(asset: id, life) }
    var volumeRecord: VolumeRecord { VolumeRecord(asset: id, in: bundle.volume, other: bundle.other) }
}

/// Content that was not used since the start.
private struct UnreadContent {
    let rows: ContentRows
    /// Loads the rows. A closure, because only the library knows how a stored asset is read.
    let read: () -> Void
}

/// The content of an asset, in memory or not.
private enum ContentState {
    case loaded(AssetContent)
    /// Not used since the start, which has read its rows; nil for a new asset. The closures wait for it.
    case unread(UnreadContent?, waiting: [() -> Void] = [])
    /// It was in memory, and is only in the catalogue now.
    case asleep(waiting: [() -> Void] = [])

    /// The closures to call once it is loaded.
    var waiting: [() -> Void] {
        switch self {
        case .loaded: []
        case .unread(_, let waiting), .asleep(let waiting): waiting
        }
    }
}

extension Asset: BundleOwner {
    package func folder(_ folder: PieceFolder, gained file: String) {
        if folder === keys.folder {
            if case .key(let number)? = PieceName(file)?.role {
                library?.keys.recordKey(number, of: self)
            }
        } else if folder === content.sessionData.folder || content.images.contains(where: { $0.folder === folder }) {
            return
        } else if let rendition = rendition(in: folder), rendition.index < content.renditions.count {
            // Asked for each piece that is stored, and a list may have 10,000 renditions: this piece changes its own alone.
            guard rendition.isComplete != published.contains(rendition.index) else { return }
        }
        if !content.completes(published) {
            library?.publish(self)
        }
    }

    package func bundle(_ bundle: Bundle, lostPiece error: StoreError) {
        guard let library else { return }
        library.report("\(name): a piece could not be written to the disk, and is fetched again: \(error)")
        library.events.send(.pieceLost(self))
    }

    package func bundle(_ bundle: Bundle, damagedPiece piece: String, _ fault: PieceFault) {
        guard let library, !isRemoved else { return }
        var next = "it is fetched again"
        if library.isOffline {
            next = "online again, repair it: weir verify \(name) --repair"
        }
        library.report("\(name): \(piece) is damaged (\(fault.words)), and was set aside; \(next)")
        library.rectify(self)
        // Its bytes may have decided what stands in for what.
        library.partialPlayback?.forget(self)
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
