public import EventLoop
package import Fetching
import Glibc
public import HTTPMessage
public import Origin
public import Playheads
public import Store

/// Owns all assets: their playlists as fetched, their pieces, and the loader that fetches missing resources.
@LoopActor public final class Library {
    /// Controls if origins are contacted. A change to `offline` ends the running fetches at once.
    public var mode: PlayMode {
        didSet {
            playlistFetcher.client.isOffline = isOffline
            if mode != oldValue { events.send(.modeChanged(mode)) }
        }
    }
    /// True if no origin may be contacted.
    public var isOffline: Bool { mode == .offline }
    package var client: OriginClient { playlistFetcher.client }
    /// The reason why the store is read-only; nil when the store is writable.
    public var readOnlyReason: StoreError? { store.readOnlyReason }

    /// The sessions of all assets, and their playheads.
    public let playheads: PlayheadTracker
    /// Fetches resources from origins.
    package let loader: Loader
    /// Delivers changes of the library, in order, on the loop.
    public let events = EventStream<LibraryEvent>()
    /// Answers questions about downloads; nil if downloads are not available.
    package private(set) weak var downloads: (any DownloadStatus)?
    package let store: Store
    let playlistFetcher: PlaylistFetcher
    /// Receives errors that no caller waits for.
    package let report: @Sendable (String) -> Void
    /// The interstitial assets: presentations that playlists of assets name.
    var interstitialAssets = InterstitialAssets()
    /// Former names of assets that are being played, mapped to the assets' ids.
    var formerNames: [String: String] = [:]
    /// The time of day, in seconds since 1970.
    package let date: () -> Int64
    private let backgroundYield: BackgroundYield
    private var sessionChanges: Subscription?
    private var byID: [String: Asset] = [:]
    private var byName: [String: Asset] = [:] {
        didSet { byOrder = nil }
    }
    /// Caches the sorted `assets`.
    private var byOrder: [Asset]?
    /// Knows sizes and states of assets without loading their playlists.
    public let summaries = Summaries()
    private var byOrigin: [WebURL: Asset] = [:]
    private var opening: [WebURL: Task<Result<Asset, LibraryError>, Never>] = [:]
    /// Answers if an asset is being moved; nil if nothing moves assets.
    let moves: (any MoveStatus)?
    /// Finds assets that can be played in part; nil if none can.
    let partialPlayback: (any PartialPlayback)?
    /// Timer: the next check if other volumes are mounted.
    var placeTurn: LoopTimer?
    /// Names of assets that are being opened, imported or renamed, and of orphan bundles.
    package var reserved: Set<String> = []

    /// Creates a library over a store, with the assets of the store's catalogue.
    ///
    /// - Parameters:
    ///   - moves: answers if an asset is being moved; nil if nothing moves assets.
    ///   - partialPlayback: finds assets that can be played in part; nil if none can.
    ///   - now: the clock of the playheads.
    ///   - date: the time of day, in seconds since 1970; nil for the system's.
    ///   - report: receives errors that no caller waits for, as a sentence for a log.
    public init(
        store: Store, client: OriginClient, mode: PlayMode = .auto, moves: (any MoveStatus)? = nil,
        partialPlayback: (any PartialPlayback)? = nil,
        now: @escaping () -> ContinuousClock.Instant = { .now },
        date: (() -> Int64)? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        playheads = PlayheadTracker(now: now)
        self.store = store
        self.mode = mode
        self.report = report
        self.moves = moves
        self.partialPlayback = partialPlayback
        loader = Loader(store: store, client: client)
        playlistFetcher = PlaylistFetcher(client: client)
        backgroundYield = BackgroundYield(playheads, OriginTransfers(client))
        client.isOffline = mode == .offline
        self.date = date ?? { Self.now }
        let summarized = Summaries.check(store)
        let known = restored(store.catalogue.initial)
        recover(known)
        register(restored: known)
        summaries.start(for: self, with: summarized)
        watchPlaces()
        sessionChanges = playheads.sessionChanges.subscribe { [weak self] change in self?.recordPlay(change) }
    }

    /// Sets the object that answers questions about downloads. The library holds it weakly.
    public func attach(_ downloads: any DownloadStatus) { self.downloads = downloads }

    /// Sets the object that frees space on a full disk. The library holds it weakly.
    package func attach(_ roomMaker: any RoomMaker) { loader.roomMaker = roomMaker }

    // MARK: Finding

    /// The known streams of the user's streams file. An asset opened from one of them takes its name and title.
    public var streams: [KnownStream] = []

    /// All assets, sorted by name, without revisions.
    public var assets: [Asset] {
        if let byOrder { return byOrder }
        let sorted = byName.sorted { $0.key < $1.key }.map(\.value)
        byOrder = sorted
        return sorted
    }

    /// Returns the asset with this id.
    public func asset(id: String) -> Asset? { byID[id] }

    /// Returns the asset or interstitial asset with this id.
    public func presentation(id: String) -> Asset? { asset(id: id) ?? interstitialAssets.asset(id: id) }

    /// Returns the asset with this name.
    public func asset(named name: String) -> Asset? { byName[name] }

    /// Returns the asset with this origin URL.
    public func asset(at url: WebURL) -> Asset? { byOrigin[url] }

    // MARK: Opening

    /// Returns the asset of `url`, with its entry playlist loaded. Creates the asset if it is new. A URL that differs
    /// from a known asset's URL only in tokens, and leads to the same content, returns that asset.
    ///
    /// - Parameters:
    ///   - name: name of a new asset; nil for a name made from the URL.
    ///   - title: for display; set only on an asset that has none.
    ///   - fields: header fields for the origin of `url`, see `setFields`; nil to keep those of a known asset.
    ///   - isUsers: true if the user gave the URL. Other URLs may not lead to a private address.
    /// - Throws: `LibraryError`; no asset is registered then.
    public func open(
        _ url: WebURL, name: String? = nil, title: String? = nil, fields: UserFields? = nil, isUsers: Bool = true
    ) async throws(LibraryError) -> Asset {
        while let task = opening[url] {
            // A URL that was refused without the fields may succeed with them.
            if case .failure(let error) = await task.value, fields == nil { throw error }
        }
        let isNamed = isUsers || streams.contains { $0.url == url }
        if let known = byOrigin[url] {
            if isNamed { await confirm(known) }
            if known.title == nil, let title { await entitle(known, title) }
            if let fields { try await setFields(fields, of: known) }
            return known
        }
        try checkOnline(url)
        if let name { try checkFree(name) }
        let access = OriginAccess(to: url, with: fields ?? UserFields(), namesPeer: isNamed)
        let task = Task { @LoopActor () -> Result<Asset, LibraryError> in
            // Clear the entry before the callers that joined this task resume.
            defer { self.opening[url] = nil }
            if let known = await self.assetWithOtherTokens(at: url, fields: fields, isNamed: isNamed) {
                return .success(known)
            }
            let stream = self.stream(at: url)
            return await self.make(url, name: name ?? stream?.name, title: title ?? stream?.title, access)
        }
        opening[url] = task
        let asset = try await task.value.get()
        if asset.title == nil, let title { await entitle(asset, title) }
        return asset
    }

    /// Sets the title for display; nil removes it.
    public func entitle(_ asset: Asset, _ title: String?) async {
        guard asset.title != title else { return }
        asset.title = title
        events.send(.assetChanged(asset))
        if asset.isPersistent { await saveRecord(of: asset) }
        if !asset.isRemoved, readOnlyReason == nil, asset.bundle.exists { writeBundle(of: asset) }
    }

    private func checkOnline(_ url: WebURL) throws(LibraryError) {
        guard isOffline else { return }
        throw LibraryError(.notStored, "\(url.redacted) is not in the store, and Weir is offline")
    }

    /// Throws `nameTaken` if the name is invalid or belongs to another asset.
    package func checkFree(_ name: String) throws(LibraryError) {
        guard AssetNaming.isName(name) else {
            throw LibraryError(.nameTaken, "\"\(name)\" is no name: use small letters, digits and single dashes")
        }
        if isTaken(name) { throw LibraryError(.nameTaken, "another asset is called \(name)") }
    }

    /// True if another asset has this name, or is about to get it.
    package func isTaken(_ name: String) -> Bool { byName[name] != nil || reserved.contains(name) }

    private func make(
        _ url: WebURL, name: String?, title: String?, _ access: OriginAccess
    ) async -> Result<Asset, LibraryError> {
        let name = name ?? AssetNaming.unique(AssetNaming.name(forPath: url.path), isTaken: isTaken)
        reserved.insert(name)
        defer { reserved.remove(name) }
        let id = AssetNaming.id(forName: name, isTaken: isTakenID)
        let asset = Asset(
            id: id, name: name, title: title, origin: url, access: access, created: Self.now, store: store)
        do {
            try await loadEntry(of: asset)
        } catch {
            return .failure(error)
        }
        register(asset)
        return .success(asset)
    }

    /// Makes the asset available by id, name and URL.
    func register(_ asset: Asset) {
        identify(asset)
        byName[asset.name] = asset
        byOrigin[asset.origin] = asset
        events.send(.assetChanged(asset))
    }

    /// Renames an asset in the index; its old name becomes free.
    func register(_ asset: Asset, as name: String) {
        byName[asset.name] = nil
        asset.name = name
        byName[name] = asset
        events.send(.assetChanged(asset))
    }

    /// Makes the revision of an asset available by id only.
    func register(_ revision: Asset, of asset: Asset) {
        asset.revision = revision
        identify(revision)
    }

    private func identify(_ asset: Asset) {
        asset.keys.date = date
        asset.observer = self
        byID[asset.id] = asset
        events.send(.registered(asset))
    }

    /// Removes the asset from all indexes, and ends its fetches and sessions.
    func unregister(_ asset: Asset) {
        byID[asset.id] = nil
        if byName[asset.name] === asset { byName[asset.name] = nil }
        if byOrigin[asset.origin] === asset { byOrigin[asset.origin] = nil }
        loader.forget(asset.folders)
        playheads.forget(asset.id)
        events.send(.unregistered(asset))
        summaries.forget(asset)
        partialPlayback?.forget(asset)
        if !asset.isRevision { events.send(.assetChanged(asset)) }
    }

    /// True if an asset has this id, or a bundle in the store that no asset owns.
    func isTakenID(_ id: String) -> Bool { byID[id] != nil || (try? store.bundle(id, create: false)) != nil }

    /// Returns the asset at a URL; waits for one that is being opened there.
    package func occupant(of url: WebURL) async -> Asset? {
        while let task = opening[url] { _ = await task.value }
        return byOrigin[url]
    }

    /// Makes a URL lead to this asset; nil to no asset.
    func occupy(_ url: WebURL, by asset: Asset?) { byOrigin[url] = asset }

    /// Loads the asset of `url` without registering it: returns the known asset, or a preview that is not stored.
    ///
    /// Also loads the playlist of the first variant, which has the duration and shows if the stream is live.
    ///
    /// - Parameter fields: for the origin of `url`; a known asset has its own.
    public func preview(_ url: WebURL, fields: UserFields = UserFields()) async throws(LibraryError) -> Asset {
        if let known = byOrigin[url] {
            await confirm(known)
            // Ignore the error: a known asset is shown even when the origin is absent.
            if known.duration == nil, let first = known.renditions.first { _ = try? await source(of: first, in: known) }
            return known
        }
        try checkOnline(url)
        let name = AssetNaming.name(forPath: url.path)
        let access = OriginAccess(to: url, with: fields)
        let asset = Asset(
            id: name, name: name, title: nil, origin: url, access: access, created: Self.now, store: store)
        asset.isPreview = true
        try await loadEntry(of: asset)
        if let first = asset.renditions.first { _ = try await source(of: first, in: asset) }
        return asset
    }

    // MARK: Removing

    /// Deletes an asset, its stored files and its revision. A reader of an open piece can read to the end of the piece.
    ///
    /// - Returns: the number of bytes that the asset occupied.
    public func remove(_ asset: Asset) async throws(LibraryError) -> Int64 {
        var bytes = summaries[asset]?.bytes ?? asset.bytes
        if let readOnlyReason { throw LibraryError(readOnlyReason, about: "\(asset.name) cannot be removed") }
        if let revision = asset.revision {
            bytes += revision.bytes
            asset.revision = nil
            try await discard(revision)
        }
        try await discard(asset)
        return bytes
    }

    /// Deletes the stored files of an asset, and unregisters it.
    func discard(_ asset: Asset) async throws(LibraryError) {
        moves?.forget(asset)
        unregister(asset)
        do {
            // Either of the two may fail. A bundle without an entry in the catalogue is an orphan, and an asset without
            // a bundle has lost its pieces.
            try asset.bundle.remove()
            try await store.catalogue.removeAsset(asset.id)
        } catch {
            throw LibraryError(error, about: "\(asset.name) is not wholly removed")
        }
    }

    /// Deletes all pieces of an asset, which stays registered. Its observer must have forgotten the pieces before.
    ///
    /// - Parameter isGone: called on any thread once the space is free; not called if this throws.
    package func empty(_ asset: Asset, isGone: @escaping @Sendable () -> Void) throws(StoreError) {
        loader.forget(asset.folders)
        try asset.bundle.clear(isGone: isGone)
        for folder in asset.folders { folder.clearList() }
        (asset.published, asset.knownArtwork) = ([], nil)
    }

    // MARK: The bundle

    /// Writes the playlists of the asset's bundle, so that the folder plays by itself. Does nothing if they already
    /// list exactly the complete renditions.
    public func publish(_ asset: Asset) {
        let whole = asset.wholeRenditions
        guard whole != asset.published, !asset.isRemoved, readOnlyReason == nil, asset.bundle.absence == nil else {
            return
        }
        asset.published = whole
        writeBundle(of: asset)
        if !whole.isEmpty { keepSessionData(of: asset) }
    }

    package func writeBundle(of asset: Asset) {
        summaries.note(asset)
        guard !asset.bundle.isSuspended else {
            return asset.bundle.performWrite { [weak self] in self?.writeBundle(of: asset) }
        }
        do {
            try BundlePlaylists(asset).write()
        } catch {
            report("\(asset.name): the bundle's own playlists could not be written: \(error)")
        }
    }

    /// Removes a rendition that is no longer complete from the bundle's own playlists, so that they do not name a piece
    /// that is about to be deleted.
    ///
    /// - Throws: `StoreError` if they still name the rendition.
    package func withdraw(_ rendition: Rendition, of asset: Asset) throws(StoreError) {
        asset.published = asset.wholeRenditions
        do {
            try BundlePlaylists(asset).write()
        } catch {
            // On a full disk no file can be written, but one can be deleted.
            try asset.bundle.directory(create: false).remove("master.m3u8")
        }
        try rendition.folder.removeText("media.m3u8")
    }

    /// Removes all renditions that are no longer complete from the bundle's own playlists.
    package func rectify(_ asset: Asset) {
        guard readOnlyReason == nil, !asset.isRemoved else { return }
        for rendition in asset.renditions where !rendition.isWhole && rendition.folder.hasPlaylist {
            do throws(StoreError) {
                try withdraw(rendition, of: asset)
            } catch {
                report("\(asset.name): the bundle's own playlists could not be made right: \(error)")
            }
        }
        publish(asset)
    }

    package static var now: Int64 { Int64(time(nil)) }
}

extension PieceFolder {
    /// True if a playlist of the bundle is stored beside the pieces.
    fileprivate var hasPlaylist: Bool { (try? directory(create: false))?.directory.size(of: "media.m3u8") != nil }
}
