import EventLoop
import Fetching
public import HTTPMessage
public import Origin
import Playlist
import Store

/// Changes the URL of an asset: the old one is dead, and another leads to the same content.
extension Library {
    /// Changes the URL of an asset. Stored pieces stay, and are not fetched again.
    ///
    /// The new URL must lead to the known content: the same choice of renditions or the same lone playlist, and for
    /// each rendition with stored pieces the same segments. The URL, its access rules and the playlists change in one
    /// step, in the catalogue and in memory.
    ///
    /// - Parameter fields: header fields for the origin of `url`; nil to keep the present ones, which then apply only
    ///   to the same scheme, host and port.
    /// - Throws: `urlTaken` if the URL is another asset's, `otherContent` if it leads to other content, and any error
    ///   of fetching its playlists or of storing the change. Nothing has changed then.
    public func follow(
        _ asset: Asset, to url: WebURL, fields: UserFields? = nil
    ) async throws(LibraryError) {
        if let readOnlyReason { throw LibraryError(readOnlyReason, about: "\(asset.name) stays where it is") }
        guard !isOffline else {
            throw LibraryError(.notStored, "\(url.redacted) cannot be looked at, since Weir is offline")
        }
        guard !asset.isEndedRecording else {
            throw LibraryError(.otherContent, "\(asset.name) is a recording that has ended: it is nowhere else")
        }
        guard asset.revision == nil else {
            throw LibraryError(.otherContent, "\(asset.name) is nowhere else: its new content is being fetched")
        }
        try await checkFree(url, for: asset)
        let stay = url.origin == asset.access.origin
        let access = OriginAccess(to: url, with: fields ?? (stay ? asset.fields : UserFields()))
        let isBereft = fields == nil && !stay && !asset.fields.isEmpty
        let destination = try await Destination(of: asset, at: url, access, by: playlistFetcher)
        try await checkFree(url, for: asset)
        let names = "\(asset.fields)"
        try await settle(asset, at: destination)
        guard isBereft else { return }
        report(
            "\(asset.name): the header fields that were given (\(names)) are forgotten: they were for another origin than "
                + "\(url.origin)")
    }

    /// Throws if the URL is taken; waits for an asset that is being opened there.
    private func checkFree(_ url: WebURL, for asset: Asset) async throws(LibraryError) {
        let occupant = await occupant(of: url)
        guard !asset.isRemoved else { throw LibraryError(.missing, "\(asset.name) was removed") }
        guard let occupant, occupant !== holder(of: asset) else { return }
        throw LibraryError(.urlTaken, "\(url.redacted) is the URL of another asset, \(occupant.name)")
    }

    /// The asset that owns the URL: a revision shares the URL of the asset that it revises.
    private func holder(of asset: Asset) -> Asset { revised(by: asset) ?? asset }

    /// Moves the asset to the destination, first in the catalogue and then in memory.
    func settle(_ asset: Asset, at destination: Destination) async throws(LibraryError) {
        try await keep(destination, of: asset)
        take(destination, for: asset)
        events.send(.assetChanged(asset))
    }

    // MARK: The catalogue

    /// Writes the whole change to the catalogue, or nothing. From here on the URL is the asset's.
    private func keep(_ destination: Destination, of asset: Asset) async throws(LibraryError) {
        let former = asset.origin
        occupy(destination.url, by: holder(of: asset))
        guard asset.isPersistent else { return }
        let contents = contents(destination, of: asset)
        do {
            try await store.catalogue.save(contents, without: destination.lost.map(\.name.id), of: asset.id)
        } catch {
            if destination.url != former { occupy(destination.url, by: nil) }
            throw LibraryError(error, about: "\(asset.name) stays where it is")
        }
        asset.keys.markSaved(contents.keys)
        summaries.note(asset)
        guard asset.isRemoved else { return }
        // The removal may have reached the catalogue first.
        occupy(destination.url, by: nil)
        try? await store.catalogue.removeAsset(asset.id)
        throw LibraryError(.missing, "\(asset.name) was removed")
    }

    private func contents(_ destination: Destination, of asset: Asset) -> Catalogue.Contents {
        var record = asset.record
        (record.origin, record.fields) = (destination.url.text, destination.access.fields.record)
        if destination.access.namesPeer { record.fromNetwork = nil }
        var playlists = destination.sources.filter { $0.rendition.isSaved && $0.source.isDurable }
            .map { self.record(of: $0.source, $0.rendition.name.id, in: asset) }
        if let entry = destination.entry, entry.isFit {
            playlists.append(self.record(of: entry.playlist, base: entry.base, in: asset))
        }
        return Catalogue.Contents(
            assets: [record] + heldRecord(like: record, of: asset), playlists: playlists,
            keys: asset.keys.records(of: asset.id, movedTo: destination.keys))
    }

    /// The record of the asset that this one revises, with the same URL and access rules.
    private func heldRecord(like record: AssetRecord, of asset: Asset) -> [AssetRecord] {
        guard var held = revised(by: asset)?.record else { return [] }
        (held.origin, held.fields, held.fromNetwork) = (record.origin, record.fields, record.fromNetwork)
        return [held]
    }

    // MARK: Memory

    private func take(_ destination: Destination, for asset: Asset) {
        if asset.origin != destination.url { occupy(asset.origin, by: nil) }
        asset.origin = destination.url
        revised(by: asset)?.origin = destination.url
        asset.access.change(to: destination.url, with: destination.access.fields)
        if destination.access.namesPeer { asset.access.confirm() }
        // Before the entry, which may name the same keys.
        for (number, url) in destination.keys { asset.keys.settle(number, at: url) }
        for (rendition, source) in destination.sources where rendition.source?.isDurable ?? false {
            rendition.move(to: source)
        }
        for rendition in destination.lost { lose(rendition) }
        if let entry = destination.entry { take(entry, for: asset) }
        for rendition in asset.renditions { rendition.mirror = 0 }
        asset.checked = (.now, true)
        allowRenewal(of: asset)
        if asset.published.isEmpty { return }
        writeBundle(of: asset)
    }

    private func take(_ entry: Destination.Entry, for asset: Asset) {
        guard entry.isFit else { return _ = asset.relocate(by: entry.playlist, base: entry.base) }
        loader.forget(asset.adopt(entry.playlist, base: entry.base).map(\.folder))
    }

    /// Drops a rendition that is absent at the new URL, unless a piece was stored meanwhile.
    private func lose(_ rendition: Rendition) {
        rendition.isSaved = false
        guard rendition.folder.bytes == 0 else { return }
        loader.forget([rendition.folder])
        rendition.forget()
    }
}

extension Asset {
    /// True if the recorded stream has ended. A live one may still be found at another URL.
    fileprivate var isEndedRecording: Bool {
        renditions.contains { $0.source.map { $0.isRecorded && $0.isDurable } ?? false }
    }
}

extension Destination {
    /// The present URLs of the keys of known playlists, by number.
    fileprivate var keys: [Int: WebURL] {
        var keys: [Int: WebURL] = [:]
        for (rendition, source) in sources {
            for (number, key) in zip(rendition.keyNumbers, source.playlist.keys) {
                if let number, keys[number] == nil { keys[number] = try? source.base.resolving(key.uri) }
            }
        }
        return keys
    }
}
