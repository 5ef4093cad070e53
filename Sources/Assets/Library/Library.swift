// The room Assets.
//
// Duty: assets and their renditions, identity, playlists as fetched, keys, live windows, revisions.
// Entrance: `Library`, `Asset`, `AssetContent`, `Rendition`.
// Does not enter: players' sessions, downloads, and the extras of an asset, which are in `Extras`.

public import EventLoop
package import Fetching
import FoundationEssentials
import Glibc
public import HTTPMessage
public import Orders
public import Origin
public import Playheads
public import Store

/// Owns all assets, and the loader that fetches their missing resources. Each feature is a type of its own that works
/// on a library: see `playlists`, `keys` and the others.
@LoopActor public final class Library {
    /// Controls if origins are contacted. A change to `offline` ends the running fetches at once.
    public var mode: PlayMode {
        didSet {
            client.isOffline = isOffline
            guard mode != oldValue else { return }
            revisionChecks.reset()
            events.send(.modeChanged(mode))
        }
    }
    /// True if no origin may be contacted.
    public var isOffline: Bool { mode == .offline }
    package var client: OriginClient { playlistFetcher.client }
    /// True if a handler answers the URL if the user gives it.
    public func isHandled(_ url: WebURL) -> Bool { client.handlers?.answers(url, isUsers: true) ?? false }
    /// The reason why the store is read-only; nil when the store is writable.
    public var readOnlyReason: StoreError? { store.readOnlyReason }
    /// The sessions of all assets, and their playheads.
    public let playheads: PlayheadTracker
    /// Fetches resources from origins.
    package let loader: Loader
    /// Delivers changes of the library, in order, on the loop.
    public let events = EventStream<LibraryEvent>()
    /// Knows sizes and states of assets without loading their playlists; nil if no room lists assets.
    public let summaries: (any AssetSummaries)?
    /// Answers questions about downloads; nil if downloads are not available.
    package private(set) weak var downloads: (any DownloadStatus)?
    package let store: BundleStore
    package let playlistFetcher: PlaylistFetcher
    /// Receives errors that no caller waits for.
    package let report: @Sendable (String) -> Void
    /// The folders, by the ids of their assets, of which `reportOddity` has named a resource.
    var oddFolders: Set<String> = []
    package let date: () -> Int64
    /// The clock of playheads, and of the times at which playlists are due.
    let now: () -> ContinuousClock.Instant
    /// The known streams of the user's streams file. An asset opened from one of them takes its name and title.
    public var streams: [KnownStream] = []
    /// The channels of the user's lists.
    public var listed = ListedChannels()
    package let listedReading = ListedReading()
    /// Names of assets that are being opened, imported or renamed, and of orphan bundles.
    package var reserved: Set<String> = []
    /// Former names of assets that are being played, mapped to the assets' ids.
    var formerNames: [String: String] = [:]
    package let moves: (any MoveStatus)?
    /// Restores recordings; nil if none can.
    let storedRecordings: (any StoredRecordings)?
    /// Finds assets that can be played in part; nil if none can.
    let partialPlayback: (any PartialPlayback)?
    /// The state of `playlists`, `interstitials` and `volumes`, and the running surveys.
    let playlistTasks = PlaylistLoader.Tasks()
    let revisionChecks = RevisionChecks()
    var unlisted = UnlistedAssets()
    /// Keeps the cookies of assets; nil to forget them with the process.
    public var cookieFolder: CookieFolder? {
        didSet {
            guard let cookieFolder else { return }
            for asset in assets where !asset.isChannelRecording {
                asset.access.keepCookies(in: cookieFolder, as: asset.id)
            }
            cookieFolder.deleteFiles(except: Set(assets.map(\.id)))
        }
    }
    var volumeTimer: LoopTimer?
    /// The marks of the volumes that were away at the latest look.
    var absentVolumes: Set<String> = []
    /// The completion of what an earlier process had begun to remove.
    var removalCompletion: Task<Void, Never>?
    /// See `BundleStore.removalsToComplete`, at the latest look at the volumes.
    var removalsToComplete: Set<String> = []
    let surveys = SharedTasks<ObjectIdentifier, Void>()
    /// The assets whose bundle's playlists are being written outside the loop; true if they are to be written once more.
    var bundleWrites: [String: Bool] = [:]
    let sleeping = SleepingAssets()
    private let backgroundYield: BackgroundYield
    private var sessionChanges: Subscription?
    private var byID: [String: Asset] = [:]
    private var byName: [String: Asset] = [:] { didSet { byOrder = nil } }
    private var byOrder: [Asset]?
    private var byOrigin = URLIndex()
    let byTokenlessURL = TokenlessIndex()
    private var opening: [WebURL: Task<Result<Asset, LibraryError>, Never>] = [:]

    /// Creates a library over a store, with the assets of the store's catalogue. The other rooms that it asks may be
    /// missing.
    /// - Parameters:
    ///   - now: the clock of the playheads, and of the times at which playlists are due.
    ///   - date: the time of day, in seconds since 1970; nil for the system's.
    ///   - report: receives errors that no caller waits for, as a sentence for a log.
    public init(
        store: BundleStore, client: OriginClient, mode: PlayMode = .auto, moves: (any MoveStatus)? = nil,
        summaries: (any AssetSummaries)? = nil, partialPlayback: (any PartialPlayback)? = nil,
        storedRecordings: (any StoredRecordings)? = nil,
        now: @escaping () -> ContinuousClock.Instant = { .now }, date: (() -> Int64)? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        playheads = PlayheadTracker(now: now)
        self.now = now
        self.store = store
        self.mode = mode
        self.report = report
        self.moves = moves
        self.summaries = summaries
        self.partialPlayback = partialPlayback
        self.storedRecordings = storedRecordings
        loader = Loader(store: store, client: client)
        playlistFetcher = PlaylistFetcher(client: client)
        backgroundYield = BackgroundYield(playheads, OriginTransfers(client))
        client.isOffline = mode == .offline
        self.date = date ?? { Self.now }
        sleeping.library = self
        let contents = store.catalogue.initial
        let known = records.restored(contents)
        store.catalogue.releasePlaylists()
        checkAfterPowerLoss(known)
        revisions.register(restored: known)
        separateRecordings(known, from: contents.assets)
        volumes.watch()
        sessionChanges = playheads.sessionChanges.subscribe { [weak self] change in self?.recordPlay(change) }
    }

    /// Sets the object that answers questions about downloads, and holds it weakly.
    public func attach(_ downloads: any DownloadStatus) { self.downloads = downloads }
    /// Sets the object that frees space on a full disk, and holds it weakly.
    package func attach(_ roomMaker: any RoomMaker) { loader.roomMaker = roomMaker }

    // MARK: Features

    /// Loads playlists from origins and their mirrors.
    public var playlists: PlaylistLoader { PlaylistLoader(library: self) }
    /// Renews, expires and revokes keys.
    public var keys: KeyManager { KeyManager(library: self) }
    /// Replaces assets by new content of their origins.
    public var revisions: Revisions { Revisions(library: self) }
    /// Changes URLs of assets.
    public var relocation: Relocation { Relocation(library: self) }
    /// Watches the volumes of assets.
    public var volumes: VolumeWatch { VolumeWatch(library: self) }
    /// Writes assets to the catalogue, and restores them.
    public var records: AssetRecords { AssetRecords(library: self) }

    // MARK: Finding

    /// All assets, sorted by name, without revisions.
    public var assets: [Asset] {
        if let byOrder {
            return byOrder
        }
        let sorted = byName.sorted { $0.key < $1.key }.map(\.value)
        byOrder = sorted
        return sorted
    }

    /// Returns the asset with this id.
    public func asset(id: String) -> Asset? { byID[id] }
    /// Returns the asset with this id, listed or not.
    public func presentation(id: String) -> Asset? { byID[id] ?? unlisted.asset(id: id) }
    /// Returns the asset with this name.
    public func asset(named name: String) -> Asset? { byName[name] }

    /// Returns the asset with this former name, if a session that reloads the entry under this name still plays it.
    public func asset(formerlyNamed name: String) -> Asset? {
        guard let asset = formerNames[name].flatMap({ asset(id: $0) }), playheads.isPlayed(asset.id) else {
            formerNames[name] = nil
            return nil
        }
        return asset
    }

    /// Returns the asset with this origin URL.
    public func asset(at url: WebURL) -> Asset? { byOrigin[url.withoutDirectives] }

    /// The streams that have no asset, by name or by URL, in the order of the streams file.
    public var unopenedStreams: [KnownStream] {
        streams.filter(isUnopened)
    }

    /// True if there is no asset with the name or the URL of a stream.
    public func isUnopened(_ stream: KnownStream) -> Bool {
        asset(named: stream.name) == nil && asset(at: stream.url) == nil
    }

    /// Returns the stream or the listed channel with this name, unless an asset has the name.
    public func stream(named name: String) -> KnownStream? {
        guard asset(named: name) == nil else { return nil }
        return streams.first { $0.name == name } ?? listed.channel(named: name)
    }

    /// Returns the stream or the listed channel with this URL.
    public func stream(at url: WebURL) -> KnownStream? {
        streams.first { $0.url == url } ?? listed.channel(at: url)
    }

    /// The name of a known stream, unless something else has it.
    func freeName(of stream: KnownStream?) -> String? {
        guard let stream, !isTaken(stream.name) else { return nil }
        return stream.name
    }

    // MARK: Opening

    /// Returns the asset of `url`, with its entry playlist loaded. Creates the asset if it is new. A URL that differs
    /// from a known asset's URL only in tokens, and leads to the same content, returns that asset.
    /// - Parameters:
    ///   - name: of a new asset; nil for one made from the URL.
    ///   - title: for display; set only on an asset that has none.
    ///   - fields: see `setFields`; nil to keep those of a known asset.
    ///   - cookies: of the user's file. Those that match a host of the presentation are kept with the asset.
    ///   - route: see `setRoute`; nil to keep that of a known asset.
    ///   - isUsers: true if the user gave the URL. Other URLs may not lead to a private address.
    public func open(
        _ url: WebURL, name: String? = nil, title: String? = nil, fields: UserFields? = nil,
        cookies: [StoredCookie] = [], route: OriginRoute? = nil, isUsers: Bool = true
    ) async throws(LibraryError) -> Asset {
        let url = url.withoutDirectives
        // A list may have a name and header fields for it.
        await waitForStream(at: url)
        while let task = opening[url] {
            // A URL that was refused without the fields or by another way may succeed with them.
            if case .failure(let error) = await task.value, fields?.isEmpty ?? true, route == nil {
                throw error
            }
        }
        let stream = stream(at: url)
        let isNamed = isUsers || stream?.namesHost ?? false
        if let known = byOrigin[url] {
            if isNamed {
                await confirm(known)
            }
            if known.title == nil, let title {
                await setTitle(title, of: known)
            }
            if let fields {
                try await setFields(fields, of: known)
            }
            if let route {
                try await setRoute(route, of: known)
            }
            if !cookies.isEmpty {
                offer(cookies, to: known)
            }
            await wake(known)
            return known
        }
        try checkOnline(url)
        if let name {
            try checkFree(name)
        }
        let own = stream?.fields ?? UserFields()
        let all = fields?.applied(to: own) ?? own
        let access = OriginAccess(to: url, with: all, namesPeer: isNamed, route: self.route(route, to: stream))
        access.cookies.offer(cookies)
        let task = Task { @LoopActor () -> Result<Asset, LibraryError> in
            // Clear the entry before the callers that joined this task resume.
            defer { self.opening[url] = nil }
            if let known = await relocation.assetWithOtherTokens(
                at: url, access, fields: fields, cookies: cookies)
            {
                return .success(known)
            }
            let name = name ?? freeName(of: stream)
            let title = title ?? stream?.title
            return await make(url, name: name, title: title, access)
        }
        opening[url] = task
        let asset = try await task.value.get()
        if asset.title == nil, let title {
            await setTitle(title, of: asset)
        }
        return asset
    }

    /// The way to a new asset. The class of a list's host is that of its channels there: a name that leads elsewhere later may be an
    /// attack.
    func route(_ given: OriginRoute?, to stream: KnownStream?) -> OriginRoute {
        var route = given ?? OriginRoute()
        if route.firstClass == nil {
            route.firstClass = stream?.hostClass
        }
        return route
    }

    private func make(
        _ url: WebURL, name: String?, title: String?, _ access: OriginAccess
    ) async -> Result<Asset, LibraryError> {
        let given = name.map { AssetNaming.slug($0[...]) }
        let name = given ?? AssetNaming.unique(AssetNaming.name(for: url), isTaken: isTaken)
        reserved.insert(name)
        defer { reserved.remove(name) }
        let id = AssetNaming.id(forName: name, isTaken: isTakenID)
        let asset = Asset(
            id: id, name: name, title: title, origin: url, access: access, created: Self.now, store: store)
        do {
            try await playlists.loadEntry(of: asset)
        } catch {
            return .failure(error)
        }
        register(asset)
        sleeping.recordUse(of: asset)
        reportInsecurity(of: asset)
        return .success(asset)
    }

    /// Loads the asset of `url` and the playlist of its first variant without registering it: returns the known asset,
    /// or a preview that is not stored. A known asset has its own header fields.
    /// - Parameter isUsers: as for `open`.
    public func preview(
        _ url: WebURL, fields: UserFields = UserFields(), cookies: [StoredCookie] = [],
        route: OriginRoute = OriginRoute(), isUsers: Bool = true
    ) async throws(LibraryError) -> Asset {
        let url = url.withoutDirectives
        if let known = byOrigin[url] {
            if isUsers {
                await confirm(known)
            }
            // Ignore the error: a known asset is shown even when the origin is absent.
            if known.duration == nil, let first = known.renditions.first {
                _ = try? await playlists.source(of: first, in: known)
            }
            return known
        }
        try checkOnline(url)
        let name = AssetNaming.name(for: url)
        let asset = Asset(
            id: name, name: name, title: nil, origin: url,
            access: OriginAccess(to: url, with: fields, namesPeer: isUsers, route: route), created: Self.now,
            store: store, isPreview: true)
        asset.access.cookies.offer(cookies)
        try await playlists.loadEntry(of: asset)
        if let first = asset.renditions.first {
            _ = try await playlists.source(of: first, in: asset)
        }
        return asset
    }

    // MARK: Checks

    private func checkOnline(_ url: WebURL) throws(LibraryError) {
        try checkOnline("\(url.redacted) is not in the store, and Weir is offline")
    }

    /// Throws `notStored` with a sentence while Weir is offline.
    package func checkOnline(_ sentence: @autoclosure () -> String) throws(LibraryError) {
        if isOffline {
            throw LibraryError(.notStored, sentence())
        }
    }

    /// Throws `store` if the store is read-only; `effect` says what therefore does not happen.
    package func checkWritable(_ effect: @autoclosure () -> String) throws(LibraryError) {
        if let readOnlyReason {
            throw LibraryError(readOnlyReason, about: effect())
        }
    }

    /// Throws `nameTaken` if the name is invalid or belongs to another asset.
    package func checkFree(_ name: String) throws(LibraryError) {
        guard AssetNaming.isName(name) else {
            throw LibraryError(.nameTaken, AssetNaming.flaw(of: name))
        }
        if isTaken(name) {
            throw LibraryError(.nameTaken, "another asset is called \(name)")
        }
    }

    /// Throws `expired` if the asset has expired, and `newerBundle` if its bundle has a newer format.
    package func checkExpiry(of asset: Asset) throws(LibraryError) {
        try checkBundle(of: asset)
        guard let end = asset.life.expiration, end <= date() else { return }
        let option = end == asset.life.policy.expires ? "--expires" : "--after-first-play"
        throw LibraryError(
            .expired,
            "\(asset.name) has expired (\(Self.instant(end))); \"weir policy \(asset.name) \(option) never\" lets it play again"
        )
    }

    /// True if another asset has this name, or is about to get it.
    package func isTaken(_ name: String) -> Bool { byName[name] != nil || reserved.contains(name) }
    /// True if an asset has this id, or a bundle that no asset owns, or a removed one.
    package func isTakenID(_ id: String) -> Bool { byID[id] != nil || store.hasTraces(of: id) }
    /// True if a download of the asset is running or will continue by itself.
    package func isFetched(_ asset: Asset) -> Bool { downloads?.isFetched(asset) ?? false }

    /// True if a download waits for space on the store's own disk.
    package var isRoomAwaited: Bool { downloads?.isRoomAwaited ?? false }
    package static var now: Int64 { Int64(time(nil)) }

    /// Formats a time for users, in UTC: `2026-12-24T18:00:00Z`.
    package static func instant(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }

    // MARK: The index

    func register(_ asset: Asset) {
        registerID(of: asset)
        byName[asset.name] = asset
        // URL and cookies are the channel's.
        if !asset.isChannelRecording {
            byOrigin[asset.origin] = asset
            byTokenlessURL.add(asset)
            if let cookieFolder {
                asset.access.keepCookies(in: cookieFolder, as: asset.id)
            }
        }
        events.send(.assetChanged(asset))
    }

    /// Renames an asset in the index; its old name becomes free.
    func register(_ asset: Asset, as name: String) {
        byName[asset.name] = nil
        asset.name = name
        byName[name] = asset
        events.send(.assetChanged(asset))
    }

    func register(_ revision: Asset, of asset: Asset) {
        asset.revision = revision
        registerID(of: revision)
    }

    private func registerID(of asset: Asset) {
        asset.library = self
        byID[asset.id] = asset
        events.send(.registered(asset))
    }

    /// Removes the asset from all indexes, and ends its fetches and sessions.
    func unregister(_ asset: Asset) {
        byID[asset.id] = nil
        if byName[asset.name] === asset {
            byName[asset.name] = nil
        }
        if byOrigin[asset.origin] === asset {
            byOrigin[asset.origin] = nil
        }
        byTokenlessURL.remove(asset)
        loader.forget(asset.folders)
        cancelWork(of: asset)
        sleeping.forget(asset)
        revisionChecks.forget(asset)
        playheads.forget(asset.id)
        events.send(.unregistered(asset))
        summaries?.remove(asset)
        partialPlayback?.forget(asset)
        if !asset.isRevision {
            events.send(.assetChanged(asset))
        }
    }

    /// Drops the work on an asset's content that has not begun.
    private func cancelWork(of asset: Asset) {
        PureWork.shared.cancel(for: asset)
        for rendition in asset.loadedContent?.renditions ?? [] {
            PureWork.shared.cancel(for: rendition)
        }
        // An asset and its revision share the access; one of them stays.
        var other = asset.revision
        if other == nil, let revised = asset.revises {
            other = byID[revised]
        }
        if other?.access !== asset.access {
            PureWork.shared.cancel(for: asset.access)
        }
    }

    /// Returns the asset at a URL; waits for one that is being opened there.
    package func occupant(of url: WebURL) async -> Asset? {
        while let task = opening[url] {
            _ = await task.value
        }
        return byOrigin[url]
    }

    /// Makes an asset the one that opens at a URL; nil frees the URL.
    func assign(_ url: WebURL, to asset: Asset?) { byOrigin[url] = asset }

    /// Deletes an asset, its stored files and its revision. A reader of an open piece can read to the end of the piece.
    /// Returns the number of bytes that the asset occupied.
    public func remove(_ asset: Asset) async throws(LibraryError) -> Int64 {
        var bytes = summaries?.summary(of: asset)?.bytes ?? asset.bytes
        try checkWritable("\(asset.name) cannot be removed")
        if let revision = asset.revision {
            bytes += revision.bytes
            asset.revision = nil
            defer { events.send(.removed(revision)) }
            try await discard(revision)
        }
        // It is unregistered whether its files can be deleted or not.
        defer { events.send(.removed(asset)) }
        try await discard(asset)
        if !asset.isChannelRecording {
            asset.access.removeCookies()
        }
        return bytes
    }

    /// Deletes the stored files of an asset, and unregisters it.
    func discard(_ asset: Asset) async throws(LibraryError) {
        unregister(asset)
        try await deleteUnregistered(asset)
    }

    /// Deletes an unregistered asset's rows and folders.
    func deleteUnregistered(_ asset: Asset) async throws(LibraryError) {
        do {
            try await erase(asset) { [store] awaited throws(StoreError) in
                try await store.catalogue.removeAsset(asset.id, awaiting: awaited)
            }
        } catch {
            throw LibraryError(error, about: "\(asset.name) is not completely removed")
        }
    }

    /// Deletes the folders of an unregistered asset on all volumes. If that is interrupted, the next start completes it.
    /// - Parameter deleteRows: deletes the asset's rows, and writes the removals that wait for a volume.
    func erase(
        _ asset: Asset, deleteRows: ([AwaitedRemoval]) async throws(StoreError) -> Void
    ) async throws(StoreError) {
        asset.bundle.forbidWrites()
        // A move that has begun would still rename the folder, to where nothing looks for it.
        await moves?.forget(asset)
        try await eraseFolders(of: asset.id, deleteRows: deleteRows)
    }

    /// Deletes the folders of an id that no asset has, on all volumes that are there.
    package func eraseFolders(of id: String) async throws(StoreError) {
        try await eraseFolders(of: id) { [store] awaited throws(StoreError) in
            try await store.catalogue.removeAsset(id, awaiting: awaited)
        }
    }

    private func eraseFolders(
        of id: String, deleteRows: ([AwaitedRemoval]) async throws(StoreError) -> Void
    ) async throws(StoreError) {
        let store = store
        let awaited = try await DiskWork.run { () throws(StoreError) in try store.markRemoved(id) }
        do throws(StoreError) {
            try await deleteRows(awaited)
        } catch {
            // The catalogue needs room to forget the asset, and its files give that. If the process ends in between, the asset has
            // no files.
            guard error.code == .diskFull else { throw error }
            await withCheckedContinuation { continuation in
                store.deleteRemoved(id) { continuation.resume() }
            }
            try await deleteRows(awaited)
        }
        guard !awaited.isEmpty else { return store.deleteRemoved(id) }
        store.deleteRemoved(id) {
            Task {
                // Only the volumes that are away are still to be known.
                let left = try? await DiskWork.run { () throws(StoreError) in try store.markRemoved(id) }
                if let left, left != awaited {
                    try? await store.catalogue.removeAsset(id, awaiting: left)
                }
            }
        }
    }

    /// Deletes all pieces of an asset, which stays registered and whose observer has forgotten the pieces. Calls
    /// `isGone` on any thread once the space is free; not if this throws.
    package func empty(_ asset: Asset, isGone: @escaping @Sendable () -> Void) throws(StoreError) {
        loader.forget(asset.folders)
        try asset.bundle.clear(isGone: isGone)
        for folder in asset.folders {
            folder.clearList()
        }
        asset.published = []
        asset.loadedContent?.forgetAdditions()
    }

    /// Waits until all complete files are pieces that survive a power loss. No data may arrive after that.
    public func close() async {
        for asset in assets {
            asset.access.saveCookies()
        }
        await loader.committer.finish()
        await store.close()
    }

    /// Checks every folder after a power loss, before anything plays: the most recent files are not trusted.
    private func checkAfterPowerLoss(_ assets: [Asset]) {
        for volume in [store.home] + store.volumes where volume.isAfterPowerLoss {
            for asset in assets where asset.bundle.volume === volume {
                for folder in asset.folders {
                    _ = folder.sizes
                }
            }
            volume.markRecovered()
        }
    }
}
