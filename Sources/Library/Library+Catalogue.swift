import EventLoop
import Fetching
import HTTPMessage
import Origin
import Playlist
public import Store

/// Stores the library's state in the catalogue before it is used, and restores it at the start.
extension Library {
    /// The downloads of an earlier process.
    public var storedDownloads: [DownloadRecord] { store.catalogue.initial.downloads }

    /// Writes a download, new or changed. Also writes the asset if the catalogue lacks it, which is possible for a live
    /// stream.
    public func save(_ record: DownloadRecord) async throws(LibraryError) {
        if let asset = asset(id: record.asset), !asset.isPersistent { await saveNew(asset) }
        do {
            try await store.catalogue.save(.init(downloads: [record]))
            asset(id: record.asset).map(summaries.note)
        } catch {
            throw LibraryError(error, about: "the download is not noted")
        }
    }

    // MARK: Writing

    /// Writes a media playlist that has ended, and the numbers of its keys. Also writes the asset if the catalogue
    /// lacks it.
    ///
    /// - Returns: true if the playlist is in the catalogue; if not, `asset.saveFailure` has the reason.
    @discardableResult func save(
        _ source: Rendition.Source, of rendition: String, in asset: Asset
    ) async -> Bool {
        for url in source.keyURLs { asset.keys.add(url) }
        var contents = Catalogue.Contents(playlists: [record(of: source, rendition, in: asset)])
        if !asset.isPersistent {
            contents.assets = [asset.record]
            let isLone = rendition == RenditionNaming.lone.id
            if !isLone, let entry = entryRecord(of: asset) { contents.playlists.append(entry) }
        }
        return await write(contents, about: asset)
    }

    /// The catalogue record of a media playlist.
    func record(of source: Rendition.Source, _ rendition: String, in asset: Asset) -> PlaylistRecord {
        PlaylistRecord(
            asset: asset.id, rendition: rendition == RenditionNaming.lone.id ? "" : rendition, url: source.base.text,
            body: source.playlist.text.write(), imports: source.imports, fetched: Self.now)
    }

    /// The catalogue record of a multivariant playlist.
    func record(of playlist: MultivariantPlaylist, base: WebURL, in asset: Asset) -> PlaylistRecord {
        PlaylistRecord(
            asset: asset.id, rendition: "", url: base.text, body: playlist.text.write(), fetched: Self.now)
    }

    /// Writes the multivariant playlist of an asset that is in the catalogue.
    ///
    /// - Parameter gone: renditions whose playlists are deleted, because another may have their name now.
    func saveEntry(of asset: Asset, without gone: [Rendition]) async {
        guard let record = entryRecord(of: asset) else { return }
        await write(.init(playlists: [record]), without: gone.map(\.name.id), about: asset)
    }

    /// Writes that a rendition is recorded. Also writes the asset if the catalogue lacks it.
    ///
    /// - Returns: true if the recording is in the catalogue; if not, `asset.saveFailure` has the reason.
    func save(recordingOf rendition: Rendition, in asset: Asset) async -> Bool {
        var contents = asset.isPersistent ? Catalogue.Contents() : self.contents(of: asset)
        contents.recordings = [RecordingRecord(asset: asset.id, rendition: rendition.name.id)]
        return await write(contents, about: asset)
    }

    /// Writes an asset that the catalogue lacks, with its playlists.
    package func saveNew(_ asset: Asset) async { await write(contents(of: asset), about: asset) }

    private func contents(of asset: Asset) -> Catalogue.Contents {
        Catalogue.Contents(assets: [asset.record], playlists: entryRecord(of: asset).map { [$0] } ?? [])
    }

    /// Writes the name and title of an asset that is in the catalogue.
    func saveRecord(of asset: Asset) async { await write(.init(assets: [asset.record]), about: asset) }

    private func entryRecord(of asset: Asset) -> PlaylistRecord? {
        guard case .multivariant(let playlist, let base) = asset.entry else { return nil }
        return record(of: playlist, base: base, in: asset)
    }

    @discardableResult package func write(
        _ contents: Catalogue.Contents, without gone: [String] = [], about asset: Asset
    ) async -> Bool {
        if asset.isPreview || asset.isRemoved { return false }
        if let reason = readOnlyReason {
            asset.saveFailure = reason
            return false
        }
        var contents = contents
        let given = Set(contents.keys.map(\.number))
        contents.keys += asset.keys.unsaved(of: asset.id).filter { !given.contains($0.number) }
        if !asset.isPersistent, !asset.isHome { contents.volumes = [asset.volumeRecord] }
        do {
            try await store.catalogue.save(contents, without: gone, of: asset.id)
        } catch {
            if asset.isRemoved { return false }
            if asset.saveFailure == nil { report("\(asset.name) is not in the catalogue, and not kept: \(error)") }
            asset.saveFailure = error
            return false
        }
        asset.keys.markSaved(contents.keys)
        asset.isPersistent = true
        asset.saveFailure = nil
        summaries.note(asset)
        // If the asset was removed meanwhile, its removal may have reached the catalogue before this write.
        if asset.isRemoved { try? await store.catalogue.removeAsset(asset.id) }
        return !asset.isRemoved
    }

    /// Records an asset whose bundle is complete in the store, then registers it.
    ///
    /// - Returns: the registered asset, as it is after a restart; nil if its records cannot be read back.
    package func insert(_ asset: Asset) async throws(StoreError) -> Asset? {
        var playlists = asset.renditions.compactMap { rendition in
            rendition.source.map { record(of: $0, rendition.name.id, in: asset) }
        }
        if case .multivariant(let playlist, let base) = asset.entry {
            playlists.append(record(of: playlist, base: base, in: asset))
        }
        let records = Catalogue.Contents(
            assets: [asset.record], playlists: playlists, keys: asset.keys.unsaved(of: asset.id),
            storage: asset.life == StorageLife() ? [] : [asset.storageRecord])
        try await store.catalogue.save(records)
        guard let asset = restored(records).first else { return nil }
        register(asset)
        summaries.note(asset)
        return asset
    }

    // MARK: Restoring

    /// Creates the assets of a catalogue, with their playlists and keys.
    func restored(_ contents: Catalogue.Contents) -> [Asset] {
        let playlists = Dictionary(grouping: contents.playlists, by: \.asset)
        let keys = Dictionary(grouping: contents.keys, by: \.asset)
        let recordings = Dictionary(grouping: contents.recordings, by: \.asset)
        let places = Dictionary(contents.volumes.map { ($0.asset, $0) }) { $1 }
        let lives = Dictionary(contents.storage.map { ($0.asset, $0.life) }) { $1 }
        return contents.assets.compactMap { record in
            guard let origin = try? WebURL(record.origin) else { return nil }
            let asset = Asset(
                id: record.id, name: record.name, title: record.title, origin: origin,
                access: OriginAccess(
                    to: origin, with: UserFields(record: record.fields), namesPeer: !(record.fromNetwork ?? false)),
                created: record.created, store: store)
            asset.isPersistent = true
            if let record = places[asset.id] {
                let (place, other) = store.volumes(of: record)
                asset.bundle.relocate(to: place, other: other)
            }
            asset.revises = record.revises
            asset.life = lives[asset.id] ?? StorageLife()
            for key in keys[asset.id] ?? [] {
                if let url = try? WebURL(key.url) { asset.keys.restore(url, number: key.number, key.life) }
            }
            let (own, recorded) = (playlists[asset.id] ?? [], recordings[asset.id] ?? [])
            asset.sleep { [weak self, weak asset] in
                if let asset { self?.wake(asset, own, recorded) }
            }
            return asset
        }
    }

    /// Loads the playlists of an asset, unless a newer Weir has written its bundle.
    private func wake(_ asset: Asset, _ playlists: [PlaylistRecord], _ recordings: [RecordingRecord]) {
        guard admitBundle(of: asset) else { return }
        // The entry comes first, because it defines the renditions.
        for playlist in playlists where playlist.rendition.isEmpty { restoreEntry(playlist, of: asset) }
        for playlist in playlists where !playlist.rendition.isEmpty { restoreMedia(playlist, of: asset) }
        for recording in recordings { restoreRecording(of: recording.rendition, in: asset) }
    }

    private func restoreEntry(_ record: PlaylistRecord, of asset: Asset) {
        guard let (playlist, base) = Self.restored(record) else { return }
        switch playlist {
        case .multivariant(let multivariant): asset.adopt(multivariant, base: base)
        case .media(let media):
            asset.adopt(Rendition.Source(playlist: media, base: base))
            asset.lone?.isSaved = true
        }
    }

    private func restoreMedia(_ record: PlaylistRecord, of asset: Asset) {
        guard case (.media(let media), let base)? = Self.restored(record) else { return }
        // An earlier version stored a mirror as a rendition of its own; its pieces are not mixed with the present ones.
        guard let rendition = asset.rendition(record.rendition), rendition.name.id == record.rendition else { return }
        rendition.adopt(Rendition.Source(playlist: media, base: base, imports: record.imports))
        rendition.isSaved = true
    }

    /// Parses the playlist of a record with the variables of its first parse.
    private static func restored(_ record: PlaylistRecord) -> (playlist: Playlist, base: WebURL)? {
        guard let base = try? WebURL(record.url) else { return nil }
        let variables = VariableSources(imports: record.imports, query: base.query)
        guard let playlist = try? Playlist.parse(record.body, variables: variables) else { return nil }
        return (playlist, base)
    }
}
