public import EventLoop
import Glibc
public import HTTPMessage
public import Origin
import Playlist
public import Store

/// All assets, and the ways to what belongs to them: playlists as fetched, pieces, and the loader for what is missing.
@LoopActor public final class Library {
    /// Whether no origin may be asked at all.
    public let isOffline: Bool
    /// The way by which resources come from origins.
    public let loader: Loader
    /// Why nothing can be kept; nil when the store is writable.
    public var readOnlyReason: StoreError? { store.readOnlyReason }

    let store: Store
    let fetch: PlaylistFetch
    private var byID: [String: Asset] = [:]
    private var byName: [String: Asset] = [:]
    private var byOrigin: [WebURL: Asset] = [:]
    private var opening: [WebURL: Task<Result<Asset, LibraryError>, Never>] = [:]
    private let report: @Sendable (String) -> Void

    /// A library over a store, with what its catalogue knows.
    ///
    /// - Parameter report: told of trouble that nobody waits for, in a sentence for a log.
    public init(
        store: Store, client: OriginClient, isOffline: Bool = false,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.store = store
        self.isOffline = isOffline
        self.report = report
        loader = Loader(store: store, client: client)
        fetch = PlaylistFetch(client: client)
        restore(store.catalogue.initial)
    }

    // MARK: Assets

    /// All assets, by name.
    public var assets: [Asset] { byName.values.sorted { $0.name < $1.name } }

    /// The asset with this id.
    public func asset(id: String) -> Asset? { byID[id] }

    /// The asset that the user calls so.
    public func asset(named name: String) -> Asset? { byName[name] }

    /// The asset that this URL leads to, if there is one.
    public func asset(at url: WebURL) -> Asset? { byOrigin[url] }

    /// The asset that `url` leads to, made if it is new, with its entry playlist loaded.
    ///
    /// - Parameters:
    ///   - name: what to call a new asset; nil for a name made of the URL.
    ///   - title: for display; given to an asset that has none.
    /// - Throws: `LibraryError`; nothing is registered then.
    public func open(
        _ url: WebURL, name: String? = nil, title: String? = nil
    ) async throws(LibraryError) -> Asset {
        if let known = byOrigin[url] {
            if known.title == nil { known.title = title }
            return known
        }
        if let task = opening[url] { return try await task.value.get() }
        guard !isOffline else {
            throw LibraryError(.notStored, "\(url.redacted) is not in the store, and Weir is offline")
        }
        if let name { try checkFree(name) }
        let task = Task { @LoopActor in await self.make(url, name: name, title: title) }
        opening[url] = task
        defer { opening[url] = nil }
        return try await task.value.get()
    }

    /// What `url` leads to, without anything being registered: the asset that is known, or one that is not kept.
    ///
    /// The first variant's playlist is loaded as well, for the duration, and to know whether it is live.
    public func preview(_ url: WebURL) async throws(LibraryError) -> Asset {
        let asset: Asset
        if let known = byOrigin[url] {
            asset = known
        } else {
            guard !isOffline else {
                throw LibraryError(.notStored, "\(url.redacted) is not in the store, and Weir is offline")
            }
            let name = AssetNaming.name(forPath: url.path)
            asset = Asset(id: name, name: name, title: nil, origin: url, created: Self.now, store: store)
            try await loadEntry(of: asset, deadline: Self.patience, isPatient: true)
        }
        guard asset.duration == nil, let first = asset.renditions.first, let address = asset.url(of: first) else {
            return asset
        }
        let (playlist, base) = try await fetch.playlist(
            at: address, origin: url, deadline: Self.patience, isPatient: true)
        // A known asset's playlists are loaded by those who keep them.
        if case .media(let media) = playlist, byOrigin[url] == nil {
            first.adopt(Rendition.Source(playlist: media, base: base))
        }
        return asset
    }

    private func checkFree(_ name: String) throws(LibraryError) {
        guard AssetNaming.isName(name) else {
            throw LibraryError(.nameTaken, "\"\(name)\" is no name: use small letters, digits and single dashes")
        }
        if byName[name] != nil { throw LibraryError(.nameTaken, "another asset is called \(name)") }
    }

    private func make(_ url: WebURL, name: String?, title: String?) async -> Result<Asset, LibraryError> {
        let name = name ?? AssetNaming.unique(AssetNaming.name(forPath: url.path)) { byName[$0] != nil }
        let id = AssetNaming.id(forName: name) { byID[$0] != nil }
        let asset = Asset(id: id, name: name, title: title, origin: url, created: Self.now, store: store)
        do {
            try await loadEntry(of: asset, deadline: Self.patience, isPatient: true)
        } catch {
            return .failure(error)
        }
        if byName[name] != nil { return .failure(LibraryError(.nameTaken, "another asset is called \(name)")) }
        register(asset)
        await persistIfDurable(asset)
        return .success(asset)
    }

    private func register(_ asset: Asset) {
        asset.becameWhole = { [weak self, weak asset] in
            guard let self, let asset else { return }
            do {
                try BundlePlaylists(asset).write()
            } catch {
                self.report("\(asset.name): the bundle's own playlists could not be written: \(error)")
            }
        }
        byID[asset.id] = asset
        byName[asset.name] = asset
        byOrigin[asset.origin] = asset
    }

    /// Deletes an asset with all that is stored of it. Who is in the middle of a piece reads on to its end.
    ///
    /// - Returns: the bytes that it took.
    public func remove(_ asset: Asset) async throws(LibraryError) -> Int64 {
        let bytes = asset.bytes
        if let readOnlyReason { throw LibraryError(readOnlyReason, about: "\(asset.name) cannot be removed") }
        byID[asset.id] = nil
        byName[asset.name] = nil
        byOrigin[asset.origin] = nil
        do {
            // The catalogue first: a bundle that nobody knows is rubbish, an asset without a bundle would be a lie.
            try await store.catalogue.removeAsset(asset.id)
            try asset.bundle.remove()
        } catch {
            throw LibraryError(error, about: "\(asset.name) is not wholly removed")
        }
        return bytes
    }

    // MARK: The entry playlist

    /// For a whole playlist, where somebody waits for it.
    static let patience = Duration.seconds(30)
    /// For a playlist where stored pieces can take the origin's place.
    private static let impatience = Duration.seconds(3)
    /// So long an answer of the origin counts: players load an entry twice, and a lone live playlist again and again.
    private static let checkLife = Duration.seconds(5)

    /// Asks the origin for the entry playlist anew, unless that was just done; tells whether it answered.
    ///
    /// Whether a false answer matters is for the caller to say: what is stored plays all the same.
    ///
    /// - Throws: `LibraryError` when the origin does not answer, and nothing is stored that could be played instead.
    public func refresh(_ asset: Asset) async throws(LibraryError) -> Bool {
        if isOffline { return false }
        if let checked = asset.checked, .now - checked.at < Self.life(of: asset) { return checked.isPresent }
        if let task = asset.checking { return try await task.value.get() }
        let task = Task { @LoopActor in await self.check(asset) }
        asset.checking = task
        defer { asset.checking = nil }
        return try await task.value.get()
    }

    private static func life(of asset: Asset) -> Duration {
        guard case .media = asset.entry, asset.isLive else { return checkLife }
        return asset.renditions.first?.reloadInterval ?? checkLife
    }

    private func check(_ asset: Asset) async -> Result<Bool, LibraryError> {
        let hasFallback = asset.isPlayableOffline
        do {
            try await loadEntry(
                of: asset, deadline: hasFallback ? Self.impatience : Self.patience, isPatient: !hasFallback)
            asset.checked = (.now, true)
            return .success(true)
        } catch {
            guard hasFallback else { return .failure(error) }
            report("\(asset.name): playing what is stored, since \(error)")
            asset.checked = (.now, false)
            return .success(false)
        }
    }

    private func loadEntry(of asset: Asset, deadline: Duration, isPatient: Bool) async throws(LibraryError) {
        let (playlist, base) = try await fetch.playlist(
            at: asset.origin, origin: asset.origin, deadline: deadline, isPatient: isPatient)
        switch playlist {
        case .media(let media):
            if asset.renditions.first?.source?.isDurable ?? false { return }
            asset.adopt(Rendition.Source(playlist: media, base: base))
        case .multivariant(let multivariant):
            // Another choice of renditions than the one that pieces are stored for would orphan them.
            guard asset.entry == nil || asset.isSame(multivariant) || asset.bytes == 0 else { return }
            let isNew = asset.multivariant?.text.write() != multivariant.text.write()
            asset.adopt(multivariant, base: base)
            if asset.isPersistent, isNew { await saveEntry(of: asset) }
        }
        asset.checked = (.now, true)
    }

    // MARK: Media playlists

    /// The rendition's playlist: the one in the store, or the origin's.
    ///
    /// A playlist that has ended is kept, and not asked for again. A live one is asked for again once half a target
    /// duration has passed, whoever many players want it (RFC 8216 §6.3.4).
    public func source(of rendition: Rendition, in asset: Asset) async throws(LibraryError) -> Rendition.Source {
        if let source = rendition.source {
            if source.isDurable { return source }
            if let fetched = rendition.fetched, .now - fetched < rendition.reloadInterval { return source }
        }
        if let task = rendition.loading { return try await task.value.get() }
        let task = Task { @LoopActor in await self.load(rendition, in: asset) }
        rendition.loading = task
        defer { rendition.loading = nil }
        return try await task.value.get()
    }

    private func load(_ rendition: Rendition, in asset: Asset) async -> Result<Rendition.Source, LibraryError> {
        guard !isOffline else {
            return .failure(LibraryError(.notStored, "\(rendition.name.id) of \(asset.name) is not in the store"))
        }
        guard let url = asset.url(of: rendition) else {
            return .failure(LibraryError(.notPlaylist, "\(rendition.name.id) of \(asset.name) has no usable URL"))
        }
        do {
            let (playlist, base) = try await fetch.playlist(
                at: url, origin: asset.origin, deadline: Self.patience, isPatient: true)
            guard case .media(let media) = playlist else {
                let message = "\(base.redacted) is a multivariant playlist where a media playlist should be"
                return .failure(LibraryError(.notPlaylist, message))
            }
            let source = Rendition.Source(playlist: media, base: base)
            rendition.adopt(source)
            if source.isDurable { await persist(rendition, of: asset) }
            return .success(source)
        } catch {
            return .failure(error)
        }
    }

    // MARK: The catalogue

    /// The downloads that an earlier process left.
    public var storedDownloads: [DownloadRecord] { store.catalogue.initial.downloads }

    /// Writes a download, new or changed.
    public func save(_ record: DownloadRecord) async throws(LibraryError) {
        do {
            try await store.catalogue.save(.init(downloads: [record]))
        } catch {
            throw LibraryError(error, about: "the download is not noted")
        }
    }

    private func restore(_ contents: Catalogue.Contents) {
        for record in contents.assets {
            guard let origin = try? WebURL(record.origin) else { continue }
            let asset = Asset(
                id: record.id, name: record.name, title: record.title, origin: origin, created: record.created,
                store: store)
            asset.isPersistent = true
            let playlists = contents.playlists.filter { $0.asset == asset.id }
            for key in contents.keys where key.asset == asset.id {
                if let url = try? WebURL(key.url) { asset.keys.restore(url) }
            }
            for playlist in playlists where playlist.rendition.isEmpty { restoreEntry(playlist, of: asset) }
            for playlist in playlists where !playlist.rendition.isEmpty { restoreMedia(playlist, of: asset) }
            register(asset)
        }
    }

    private func restoreEntry(_ record: PlaylistRecord, of asset: Asset) {
        guard let base = try? WebURL(record.url), let playlist = try? Playlist.parse(record.body) else { return }
        switch playlist {
        case .multivariant(let multivariant): asset.adopt(multivariant, base: base)
        case .media(let media): asset.adopt(Rendition.Source(playlist: media, base: base))
        }
    }

    private func restoreMedia(_ record: PlaylistRecord, of asset: Asset) {
        guard let base = try? WebURL(record.url), case .media(let media) = try? Playlist.parse(record.body) else {
            return
        }
        asset.rendition(record.rendition)?.adopt(Rendition.Source(playlist: media, base: base))
    }

    private func persistIfDurable(_ asset: Asset) async {
        guard case .media = asset.entry, let rendition = asset.renditions.first, rendition.source?.isDurable ?? false
        else {
            return
        }
        await persist(rendition, of: asset)
    }

    /// Writes a rendition's playlist, and first what it hangs on.
    private func persist(_ rendition: Rendition, of asset: Asset) async {
        guard let source = rendition.source, store.readOnlyReason == nil else { return }
        let isLone = asset.multivariant == nil
        let record = PlaylistRecord(
            asset: asset.id, rendition: isLone ? "" : rendition.name.id, url: source.base.text,
            body: source.playlist.text.write(), fetched: Self.now)
        await save(about: asset) { () throws(StoreError) in
            var contents = Catalogue.Contents(playlists: [record], keys: asset.keys.records(of: asset.id))
            if !asset.isPersistent {
                contents.assets = [asset.record]
                if let entry = self.entryRecord(of: asset) { contents.playlists.append(entry) }
            }
            try await self.store.catalogue.save(contents)
            asset.isPersistent = true
        }
    }

    private func saveEntry(of asset: Asset) async {
        guard let record = entryRecord(of: asset) else { return }
        await save(about: asset) { () throws(StoreError) in
            try await self.store.catalogue.save(.init(playlists: [record]))
        }
    }

    private func entryRecord(of asset: Asset) -> PlaylistRecord? {
        guard case .multivariant(let playlist, let base) = asset.entry else { return nil }
        return PlaylistRecord(
            asset: asset.id, rendition: "", url: base.text, body: playlist.text.write(), fetched: Self.now)
    }

    private func save(about asset: Asset, _ write: () async throws(StoreError) -> Void) async {
        do {
            try await write()
        } catch {
            report("\(asset.name) is not in the catalogue and will be forgotten at the end: \(error)")
        }
    }

    static var now: Int64 { Int64(time(nil)) }
}
