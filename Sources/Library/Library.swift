public import EventLoop
package import Fetching
import Glibc
public import HTTPMessage
public import Origin
public import Playheads
public import Store

/// All assets, and the ways to what belongs to them: playlists as fetched, pieces, and the loader for what is missing.
@LoopActor public final class Library {
    /// How origins are asked. When it changes to `offline`, what is under way ends at once.
    public var mode: PlayMode {
        didSet {
            playlistFetcher.client.isOffline = isOffline
            if mode != oldValue { events.send(.modeChanged(mode)) }
        }
    }
    /// Whether no origin may be asked at all.
    public var isOffline: Bool { mode == .offline }
    /// The client for requests to origins.
    package var client: OriginClient { playlistFetcher.client }
    /// Why nothing can be kept; nil when the store is writable.
    public var readOnlyReason: StoreError? { store.readOnlyReason }

    /// The sessions of all assets, and their playheads.
    public let playheads: PlayheadTracker
    /// The way by which resources come from origins.
    package let loader: Loader
    /// Delivers changes of the library, in order, on the loop.
    public let events = EventStream<LibraryEvent>()
    /// Answers questions about downloads; nil where there are none.
    package private(set) weak var downloads: (any DownloadStatus)?
    package let store: Store
    let playlistFetcher: PlaylistFetcher
    /// Told of trouble that nobody waits for.
    package let report: @Sendable (String) -> Void
    /// Presentations that playlists of assets name.
    var guests = Guests()
    /// The names that assets had which somebody plays, and their ids.
    var formerNames: [String: String] = [:]
    /// The time of day, in seconds since 1970.
    package let date: () -> Int64
    private let backgroundYield: BackgroundYield
    private var sessionChanges: Subscription?
    private var byID: [String: Asset] = [:]
    private var byName: [String: Asset] = [:] {
        didSet { byOrder = nil }
    }
    /// `assets`, once they were sorted.
    private var byOrder: [Asset]?
    /// What is known of assets without their being looked into.
    public let summaries = Summaries()
    private var byOrigin: [WebURL: Asset] = [:]
    private var opening: [WebURL: Task<Result<Asset, LibraryError>, Never>] = [:]
    /// Answers if an asset is being moved; nil if nothing moves assets.
    let moves: (any MoveStatus)?
    /// When it is looked next whether other disks are there.
    var placeTurn: LoopTimer?
    /// Names of assets that are being opened, imported or renamed, and of orphan bundles.
    package var reserved: Set<String> = []

    /// A library over a store, with what its catalogue knows.
    ///
    /// - Parameters:
    ///   - moves: answers if an asset is being moved; nil if nothing moves assets.
    ///   - now: the clock by which playheads run.
    ///   - date: the time of day, in seconds since 1970; nil for the system's.
    ///   - report: told of trouble that nobody waits for, in a sentence for a log.
    public init(
        store: Store, client: OriginClient, mode: PlayMode = .auto, moves: (any MoveStatus)? = nil,
        now: @escaping () -> ContinuousClock.Instant = { .now },
        date: (() -> Int64)? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        playheads = PlayheadTracker(now: now)
        self.store = store
        self.mode = mode
        self.report = report
        self.moves = moves
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

    /// Takes the one that answers questions about downloads; the library does not keep it alive.
    public func attach(_ downloads: any DownloadStatus) { self.downloads = downloads }

    /// Takes the one that makes room on a full disk; the library does not keep it alive.
    package func attach(_ roomMaker: any RoomMaker) { loader.roomMaker = roomMaker }

    // MARK: Finding

    /// Streams that the user has written down; each asset that comes of one has its name and its title.
    public var streams: [KnownStream] = []

    /// All assets, by name; those that revise others aside.
    public var assets: [Asset] {
        if let byOrder { return byOrder }
        let sorted = byName.sorted { $0.key < $1.key }.map(\.value)
        byOrder = sorted
        return sorted
    }

    /// The asset with this id.
    public func asset(id: String) -> Asset? { byID[id] }

    /// The asset with this id, or the interstitial asset.
    public func presentation(id: String) -> Asset? { asset(id: id) ?? guests.asset(id: id) }

    /// The asset that the user calls so.
    public func asset(named name: String) -> Asset? { byName[name] }

    /// The asset that this URL leads to, if there is one.
    public func asset(at url: WebURL) -> Asset? { byOrigin[url] }

    // MARK: Opening

    /// The asset that `url` leads to, made if it is new, with its entry playlist loaded. A URL that differs from a
    /// known asset's in tokens alone, and leads to the same content, leads to that asset.
    ///
    /// - Parameters:
    ///   - name: what to call a new asset; nil for a name made of the URL.
    ///   - title: for display; given to an asset that has none.
    ///   - fields: for the origin of `url`, as `setFields` says; nil to leave those of a known asset as they are.
    ///   - isUsers: whether the user has named the URL: another's may not lead to a private address.
    /// - Throws: `LibraryError`; nothing is registered then.
    public func open(
        _ url: WebURL, name: String? = nil, title: String? = nil, fields: UserFields? = nil, isUsers: Bool = true
    ) async throws(LibraryError) -> Asset {
        while let task = opening[url] {
            // What is refused without the fields may be given with them.
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
            // Before anybody who joined hears of the end.
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

    /// Gives an asset a title, for display, or takes it away.
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

    /// Throws `nameTaken` for what is no name, or another asset's.
    package func checkFree(_ name: String) throws(LibraryError) {
        guard AssetNaming.isName(name) else {
            throw LibraryError(.nameTaken, "\"\(name)\" is no name: use small letters, digits and single dashes")
        }
        if isTaken(name) { throw LibraryError(.nameTaken, "another asset is called \(name)") }
    }

    /// Whether another asset is called so, or is about to be.
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

    /// Lets id, name and URL lead to it.
    func register(_ asset: Asset) {
        identify(asset)
        byName[asset.name] = asset
        byOrigin[asset.origin] = asset
        events.send(.assetChanged(asset))
    }

    /// Lets a name lead to an asset, in the place of the one that it had.
    func register(_ asset: Asset, as name: String) {
        byName[asset.name] = nil
        asset.name = name
        byName[name] = asset
        events.send(.assetChanged(asset))
    }

    /// Lets the id alone lead to the new content of an asset.
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

    /// Lets nothing lead to it any more, and ends what goes on for it.
    func unregister(_ asset: Asset) {
        byID[asset.id] = nil
        if byName[asset.name] === asset { byName[asset.name] = nil }
        if byOrigin[asset.origin] === asset { byOrigin[asset.origin] = nil }
        loader.forget(asset.folders)
        playheads.forget(asset.id)
        events.send(.unregistered(asset))
        summaries.forget(asset)
        if !asset.isRevision { events.send(.assetChanged(asset)) }
    }

    /// Whether an asset has this id, or a folder in the store that no asset knows.
    func isTakenID(_ id: String) -> Bool { byID[id] != nil || (try? store.bundle(id, create: false)) != nil }

    /// The asset at a URL, or that is being opened there.
    package func occupant(of url: WebURL) async -> Asset? {
        while let task = opening[url] { _ = await task.value }
        return byOrigin[url]
    }

    /// Lets a URL lead to this asset, or to none.
    func occupy(_ url: WebURL, by asset: Asset?) { byOrigin[url] = asset }

    /// What `url` leads to, without anything being registered: the asset that is known, or one that is not kept.
    ///
    /// The first variant's playlist is loaded as well, for the duration, and to know whether it is live.
    ///
    /// - Parameter fields: for the origin of `url`; a known asset has its own.
    public func preview(_ url: WebURL, fields: UserFields = UserFields()) async throws(LibraryError) -> Asset {
        if let known = byOrigin[url] {
            await confirm(known)
            // What is known of it is told even when the origin is away.
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

    /// Deletes an asset with all that is stored of it, its revision included. Who is in the middle of a piece reads on
    /// to its end.
    ///
    /// - Returns: the bytes that it took.
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

    /// Deletes what is stored of an asset, and forgets it.
    func discard(_ asset: Asset) async throws(LibraryError) {
        moves?.forget(asset)
        unregister(asset)
        do {
            // Whatever of the two fails: a bundle that the catalogue does not know is rubbish, and an asset without a
            // bundle has lost its pieces.
            try asset.bundle.remove()
            try await store.catalogue.removeAsset(asset.id)
        } catch {
            throw LibraryError(error, about: "\(asset.name) is not wholly removed")
        }
    }

    /// Deletes everything stored of an asset, which stays known. Its observer must have forgotten the pieces.
    ///
    /// - Parameter isGone: called on any thread once the room is free; not if this throws.
    package func empty(_ asset: Asset, isGone: @escaping @Sendable () -> Void) throws(StoreError) {
        loader.forget(asset.folders)
        try asset.bundle.clear(isGone: isGone)
        for folder in asset.folders { folder.emptied() }
        (asset.published, asset.knownArtwork) = ([], nil)
    }

    // MARK: The bundle

    /// Writes the playlists of the asset's bundle, so that the folder plays by itself, unless they say already what is
    /// whole.
    public func publish(_ asset: Asset) {
        let whole = asset.wholeRenditions
        guard whole != asset.published, !asset.isRemoved, readOnlyReason == nil, asset.bundle.absence == nil else {
            return
        }
        asset.published = whole
        writeBundle(of: asset)
        if !whole.isEmpty { keepSessionData(of: asset) }
    }

    /// Writes the playlists of the asset's bundle.
    package func writeBundle(of asset: Asset) {
        summaries.note(asset)
        guard !asset.bundle.isHeld else {
            return asset.bundle.whenFree { [weak self] in self?.writeBundle(of: asset) }
        }
        do {
            try BundlePlaylists(asset).write()
        } catch {
            report("\(asset.name): the bundle's own playlists could not be written: \(error)")
        }
    }

    /// Takes a rendition that is not whole any more out of the bundle's own playlists, so that they name no piece that is
    /// about to be deleted.
    ///
    /// - Throws: `StoreError` if they still name it.
    package func withdraw(_ rendition: Rendition, of asset: Asset) throws(StoreError) {
        asset.published = asset.wholeRenditions
        do {
            try BundlePlaylists(asset).write()
        } catch {
            // On a full disk no text can be written, but one can be deleted.
            try asset.bundle.directory(create: false).remove("master.m3u8")
        }
        try rendition.folder.removeText("media.m3u8")
    }

    /// Takes renditions that are not whole any more out of the bundle's own playlists.
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
