public import EventLoop
import Fetching
import HLS
import HTTPMessage
import Origin
public import Store

/// Writes the state of assets to the catalogue before it is used, and restores it at the start.
@LoopActor public struct AssetRecords {
    let library: Library
    var catalogue: Catalogue { library.store.catalogue }
    /// The downloads of an earlier process.
    public var downloads: [DownloadRecord] { catalogue.initial.downloads }

    // MARK: Writing

    /// Writes downloads in one step, and before it the assets that the catalogue lacks: those of live streams.
    public func save(_ downloads: [DownloadRecord]) async throws(LibraryError) {
        let assets = downloads.compactMap { library.asset(id: $0.asset) }
        for asset in assets where !asset.isPersistent {
            await saveNew(asset)
        }
        do {
            try await catalogue.save(.init(downloads: downloads))
        } catch {
            throw LibraryError(error, about: "the download is not noted")
        }
        for asset in assets {
            library.summaries?.invalidate(asset)
        }
    }

    /// Writes a media playlist that has ended, the numbers of its keys, and the asset if the catalogue lacks it.
    /// Returns true if the playlist is in the catalogue; if not, `asset.saveFailure` has the reason.
    package func save(_ source: Rendition.Source, of rendition: String, in asset: Asset) async -> Bool {
        for url in source.keyURLs {
            asset.keys.add(url)
        }
        var contents = Catalogue.Contents(playlists: [record(of: source, rendition, in: asset)])
        if !asset.isPersistent {
            contents.assets = [asset.record]
            if rendition != RenditionNaming.lone.id {
                contents.playlists += entryRecords(of: asset)
            }
        }
        return await write(contents, about: asset)
    }

    /// Writes the multivariant playlist, and deletes the playlists of `gone`, whose names may be another's now.
    func saveEntry(of asset: Asset, without gone: [Rendition]) async {
        let playlists = entryRecords(of: asset)
        guard !playlists.isEmpty else { return }
        await write(.init(playlists: playlists), without: gone.map(\.name.id), about: asset)
    }

    /// Writes that a rendition is recorded. Returns true on success; if not, `asset.saveFailure` has the reason.
    package func save(recordingOf rendition: Rendition, in asset: Asset) async -> Bool {
        var contents = Catalogue.Contents()
        if !asset.isPersistent {
            contents = self.contents(of: asset)
        }
        contents.recordings = [RecordingRecord(asset: asset.id, rendition: rendition.name.id)]
        return await write(contents, about: asset)
    }

    /// Writes an asset that the catalogue lacks, with its playlists.
    package func saveNew(_ asset: Asset) async { await write(contents(of: asset), about: asset) }

    /// Writes the numbers of new keys; only then can the keys be stored.
    package func saveNewKeys(of asset: Asset) async {
        if !asset.keys.unsaved(of: asset.id).isEmpty {
            await save(asset)
        }
    }

    func save(_ asset: Asset) async { await write(.init(assets: [asset.record]), about: asset) }

    /// Writes the policy, playbacks and purge of an asset.
    package func saveLife(of asset: Asset) async {
        if asset.isPersistent {
            await write(.init(storage: [asset.storageRecord]), about: asset)
        }
    }

    /// Writes the volume of a bundle.
    package func saveVolume(of asset: Asset) async {
        if asset.isPersistent {
            await write(.init(volumes: [asset.volumeRecord]), about: asset)
        }
    }

    func rename(_ asset: Asset, to name: String) async throws(LibraryError) {
        var records = [asset, asset.revision].compactMap { $0 }.filter(\.isPersistent).map(\.record)
        for index in records.indices {
            records[index].name = name
        }
        do {
            try await catalogue.save(.init(assets: records))
            library.summaries?.invalidate(asset)
        } catch {
            throw LibraryError(error, about: "\(asset.name) keeps its name")
        }
        try asset.checkNotRemoved()
    }

    @discardableResult package func write(
        _ contents: Catalogue.Contents, without gone: [String] = [], about asset: Asset
    ) async -> Bool {
        if asset.isPreview || asset.isRemoved {
            return false
        }
        if let reason = library.readOnlyReason {
            asset.saveFailure = reason
            return false
        }
        var contents = contents
        let given = Set(contents.keys.map(\.number))
        contents.keys += asset.keys.unsaved(of: asset.id).filter { !given.contains($0.number) }
        if !asset.isPersistent, !asset.isHome {
            contents.volumes = [asset.volumeRecord]
        }
        do {
            try await catalogue.save(contents, without: gone, of: asset.id)
        } catch {
            if asset.isRemoved {
                return false
            }
            if asset.saveFailure == nil {
                library.report("\(asset.name) cannot be written to the catalogue, and is not stored: \(error)")
            }
            asset.saveFailure = error
            return false
        }
        asset.keys.markSaved(contents.keys)
        let isFirst = !asset.isPersistent
        asset.isPersistent = true
        asset.saveFailure = nil
        library.summaries?.invalidate(asset)
        if isFirst {
            await writeChanges(since: contents, of: asset)
        }
        return !asset.isRemoved
    }

    /// Writes what has changed during the first write of an asset: until then there is no row to change.
    private func writeChanges(since written: Catalogue.Contents, of asset: Asset) async {
        guard !asset.isRemoved else { return }
        if written.assets.first != asset.record {
            await save(asset)
        }
        if written.storage.isEmpty, asset.life != StorageLife() {
            await saveLife(of: asset)
        }
        let entry = entryRecords(of: asset)
        guard let former = written.playlists.first(where: { $0.rendition.isEmpty }), let now = entry.first,
            (former.url, former.body) != (now.url, now.body)
        else { return }
        let gone = written.playlists.map(\.rendition).filter { !$0.isEmpty && asset.rendition($0) == nil }
        await write(.init(playlists: entry), without: gone, about: asset)
    }

    /// Records an asset whose bundle is complete in the store, then registers it. Returns it as it is after a restart;
    /// nil if its records cannot be read back.
    package func insert(_ asset: Asset) async throws(StoreError) -> Asset? {
        // Those of attached tracks are read from the bundle.
        let added = asset.content.additions.sorted.filter { !($0.source?.isRecorded ?? true) }
        let playlists = (asset.renditions + added).compactMap { rendition in
            rendition.source.map { record(of: $0, rendition.name.id, in: asset) }
        }
        var storage: [StorageRecord] = []
        if asset.life != StorageLife() {
            storage.append(asset.storageRecord)
        }
        let records = Catalogue.Contents(
            assets: [asset.record], playlists: playlists + entryRecords(of: asset),
            keys: asset.keys.unsaved(of: asset.id), storage: storage)
        try await catalogue.save(records)
        guard let asset = restored(records).first else { return nil }
        library.register(asset)
        library.summaries?.invalidate(asset)
        return asset
    }

    private func contents(of asset: Asset) -> Catalogue.Contents {
        Catalogue.Contents(assets: [asset.record], playlists: entryRecords(of: asset))
    }

    /// The record of the known multivariant playlist; none for a lone media playlist.
    private func entryRecords(of asset: Asset) -> [PlaylistRecord] {
        guard case .multivariant(let playlist, let base) = asset.content.entry else { return [] }
        return [record(of: playlist, base: base, in: asset)]
    }

    func record(of source: Rendition.Source, _ rendition: String, in asset: Asset) -> PlaylistRecord {
        // A lone media playlist is the entry itself, whose records have no rendition.
        let id = rendition == RenditionNaming.lone.id ? "" : rendition
        let wasLive: Bool? = asset.rendition(rendition)?.hasBeenLive == true ? true : nil
        return PlaylistRecord(
            asset: asset.id, rendition: id, url: source.base.text, body: source.playlist.text.write(),
            imports: source.imports, fetched: Library.now, wasLive: wasLive)
    }

    func record(of playlist: MultivariantPlaylist, base: WebURL, in asset: Asset) -> PlaylistRecord {
        PlaylistRecord(
            asset: asset.id, rendition: "", url: base.text, body: playlist.text.write(), fetched: Library.now)
    }

    // MARK: Restoring

    func restored(_ contents: Catalogue.Contents) -> [Asset] {
        let playlists = Dictionary(grouping: contents.playlists, by: \.asset)
        let keys = Dictionary(grouping: contents.keys, by: \.asset)
        let recordings = Dictionary(grouping: contents.recordings, by: \.asset)
        let volumes = Dictionary(contents.volumes.map { ($0.asset, $0) }) { $1 }
        let lives = Dictionary(contents.storage.map { ($0.asset, $0.life) }) { $1 }
        return contents.assets.compactMap { record in
            guard let origin = try? WebURL(record.origin) else { return nil }
            let asset = Asset(
                id: record.id, name: record.name, title: record.title, origin: origin,
                access: OriginAccess(
                    to: origin, with: UserFields(record: record.fields), namesPeer: !(record.fromNetwork ?? false),
                    route: OriginRoute(record: record.route)),
                created: record.created, store: library.store)
            asset.isPersistent = true
            if let record = volumes[asset.id] {
                let (volume, other) = library.store.volumes(of: record)
                asset.bundle.relocate(to: volume, other: other)
            }
            asset.revises = record.revises
            let recorded = recordings[asset.id] ?? []
            let isOfEarlierWeir = record.recordingOf == nil && !recorded.isEmpty
            asset.recordingOf = isOfEarlierWeir ? "" : record.recordingOf
            asset.note = record.note
            asset.life = lives[asset.id] ?? StorageLife()
            for key in keys[asset.id] ?? [] {
                if let url = try? WebURL(key.url) {
                    asset.keys.restore(url, number: key.number, key.life)
                }
            }
            let rows = ContentRows(playlists: playlists[asset.id] ?? [], recordings: recorded)
            asset.postponeLoading(of: rows) { [weak library, weak asset] in
                if let asset {
                    library?.records.load(asset, rows)
                }
            }
            return asset
        }
    }

    /// Loads the playlists of an asset, unless a newer Weir has written its bundle.
    /// - Parameter parsed: the playlists that are parsed already.
    func load(_ asset: Asset, _ rows: ContentRows, parsed: Parsed = Parsed()) {
        guard library.admitBundle(of: asset) else { return }
        // The entry comes first, because it defines the renditions.
        for playlist in rows.playlists where playlist.rendition.isEmpty {
            restoreEntry(playlist, of: asset, parsed)
        }
        for playlist in rows.playlists where !playlist.rendition.isEmpty {
            restoreMedia(playlist, of: asset, parsed)
        }
        for recording in rows.recordings {
            library.storedRecordings?.restoreRecording(of: recording.rendition, in: asset, library)
        }
        for (id, numbers) in library.downloads?.givenUp(of: asset) ?? [:] {
            asset.rendition(id)?.giveUp(numbers)
        }
    }

    private func restoreEntry(_ record: PlaylistRecord, of asset: Asset, _ parsed: Parsed) {
        guard let (playlist, base) = parsed.playlists[record.rendition] ?? Self.restored(record) else { return }
        switch playlist {
        case .multivariant(let multivariant):
            if let plan = parsed.plan {
                asset.adopt(multivariant, base: base, plan)
            } else {
                asset.adopt(multivariant, base: base)
            }
        case .media(let media):
            var source = Rendition.Source(playlist: media, base: base)
            source.preparations = parsed.prepared[record.rendition]
            asset.adopt(source)
            asset.content.lone?.isSaved = true
            asset.content.lone?.hasBeenLive = record.wasLive ?? false
        }
    }

    private func restoreMedia(_ record: PlaylistRecord, of asset: Asset, _ parsed: Parsed) {
        guard case (.media(let media), let base)? = parsed.playlists[record.rendition] ?? Self.restored(record) else {
            return
        }
        // An earlier version stored a mirror as a rendition of its own; its pieces are not mixed with the present ones.
        guard let rendition = asset.rendition(record.rendition), rendition.name.id == record.rendition else { return }
        var source = Rendition.Source(playlist: media, base: base, imports: record.imports)
        source.preparations = parsed.prepared[record.rendition]
        rendition.adopt(source)
        rendition.isSaved = true
        rendition.hasBeenLive = record.wasLive ?? false
    }

    /// Parses the playlist of a record with the variables of its first parse.
    nonisolated static func restored(_ record: PlaylistRecord) -> (playlist: Playlist, base: WebURL)? {
        guard let base = try? WebURL(record.url) else { return nil }
        let variables = VariableSources(imports: record.imports, query: base.query)
        guard let playlist = try? Playlist.parse(record.body, variables: variables) else { return nil }
        return (playlist, base)
    }
}
