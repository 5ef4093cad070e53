import EventLoop
import Fetching
package import Store

/// Keeps the bundles of assets playable by themselves, and compares them with the disk.
extension Library {
    /// Writes the bundle's playlists, so that the folder plays by itself, unless the complete renditions are the same.
    public func publish(_ asset: Asset) {
        let whole = asset.content.completeRenditions
        guard whole != asset.published, !asset.isRemoved, readOnlyReason == nil, asset.bundle.absence == nil else {
            return
        }
        asset.published = whole
        writeBundle(of: asset)
        if !whole.isEmpty {
            keepSessionData(of: asset)
        }
    }

    /// Records that the bundle of an import has its playlists, which list these renditions. They are written only if they differ.
    package func recordImport(_ asset: Asset, listing renditions: Set<Int>) {
        asset.published = renditions
        store.applyMode(to: asset.id, in: asset.bundle.volume)
        publish(asset)
    }

    package func writeBundle(of asset: Asset) {
        summaries?.invalidate(asset)
        guard !asset.bundle.isSuspended else {
            return asset.bundle.performWrite { [weak self] in self?.writeBundle(of: asset) }
        }
        let playlists = BundlePlaylists(asset)
        guard !playlists.isLong else { return writeLongBundle(of: asset) }
        do {
            try playlists.write()
            store.applyMode(to: asset.id, in: asset.bundle.volume)
        } catch {
            reportUnwritten(asset, error)
        }
    }

    /// Writes the bundle's playlists outside the loop, and once more if that is asked for meanwhile.
    private func writeLongBundle(of asset: Asset) {
        let isRunning = bundleWrites.updateValue(true, forKey: asset.id) != nil
        guard !isRunning else { return }
        Task { @LoopActor in
            defer { bundleWrites[asset.id] = nil }
            while bundleWrites[asset.id] == true, !asset.isRemoved {
                bundleWrites[asset.id] = false
                do {
                    try await BundlePlaylists(asset).writeOutsideLoop()
                    store.applyMode(to: asset.id, in: asset.bundle.volume)
                } catch {
                    guard !asset.isRemoved else { return }
                    reportUnwritten(asset, error)
                }
                guard !asset.bundle.isSuspended else {
                    // The folder moves: what was written last may be in the old one alone.
                    return asset.bundle.performWrite { [weak self] in self?.writeBundle(of: asset) }
                }
            }
        }
    }

    private func reportUnwritten(_ asset: Asset, _ error: any Error) {
        report("\(asset.name): the bundle's own playlists could not be written: \(error)")
    }

    /// Removes a rendition from the bundle's playlists before a piece of it is deleted. Throws if they still name it.
    package func withdraw(_ rendition: Rendition, of asset: Asset) throws(StoreError) {
        let former = asset.published
        asset.published = asset.content.completeRenditions
        do {
            try BundlePlaylists(asset).write(leaving: former)
        } catch {
            // On a full disk no file can be written, but one can be deleted.
            try asset.bundle.directory(create: false).remove("master.m3u8")
        }
        try rendition.folder.removeText("media.m3u8")
    }

    /// Removes all renditions that are no longer complete from the bundle's own playlists.
    package func rectify(_ asset: Asset) {
        guard readOnlyReason == nil, !asset.isRemoved else { return }
        // Of thousands of renditions few have a folder.
        let folders = asset.bundle.names ?? []
        for rendition in asset.renditions + asset.content.additions.sorted
        where !rendition.isComplete && folders.contains(rendition.name.id) && rendition.folder.hasPlaylist {
            do throws(StoreError) {
                try withdraw(rendition, of: asset)
            } catch {
                report("\(asset.name): the bundle's own playlists could not be corrected: \(error)")
            }
        }
        publish(asset)
    }

    /// Fetches missing EXT-X-SESSION-DATA of an asset that plays without its origin, because players request it before
    /// anything is stored, or not at all. After a failure, the offline playlist omits the tag.
    func keepSessionData(of asset: Asset) {
        guard !isOffline, readOnlyReason == nil, asset.isPersistent, !asset.isRemoved else { return }
        for resource in asset.content.sessionData.markUntried() {
            let folder = asset.content.sessionData.folder
            guard let fetch = try? fetch(resource, in: folder, of: asset, urgency: .background) else { continue }
            fetch.whenEnded { [weak self, weak asset] result in
                fetch.release()
                guard let self, let asset else { return }
                if case .failure(let error) = result {
                    report("\(asset.name): session data cannot be stored: \(error)")
                }
                if fetch.isPiece {
                    writeBundle(of: asset)
                }
            }
        }
    }

    /// Compares an asset's pieces with the disk. Files that other programs deleted or truncated become holes, and are
    /// fetched again. It takes a few system calls per piece, on another thread; concurrent calls share one survey.
    public func survey(_ asset: Asset) async {
        await surveys.run(ObjectIdentifier(asset)) {
            var slice = LoopSlice()
            for folder in asset.folders {
                await folder.survey()
                await slice.giveWay()
            }
            self.publish(asset)
        }
    }

    /// Checks the format of a bundle before its first use. One of a newer format is neither read nor written, and the
    /// result is false; one of an older format is rewritten.
    func admitBundle(of asset: Asset) -> Bool {
        let text = asset.bundle.readOnce { try? asset.bundle.directory(create: false).read(BundleIdentity.fileName) }
        guard let text else { return true }
        let path = "\(asset.id)/\(BundleIdentity.fileName)"
        do throws(StoreError) {
            guard let identity = try BundleIdentity(text, at: path) else { return true }
            asset.content.restoreAdditions(identity)
            guard identity.format < BundleIdentity.currentFormat, readOnlyReason == nil else { return true }
            asset.whenLoaded { [weak self, weak asset] in
                if let asset {
                    self?.writeBundle(of: asset)
                }
            }
        } catch {
            asset.refusal = "\(error)"
            asset.bundle.refusal = error
            report("\(asset.name) cannot be played, and its files are left unchanged: \(error)")
            return false
        }
        return true
    }

    /// Throws `newerBundle` for an asset whose bundle was written by a newer Weir.
    package func checkBundle(of asset: Asset) throws(LibraryError) {
        asset.load()
        guard let refusal = asset.refusal else { return }
        throw LibraryError(.newerBundle, "\(asset.name) cannot be used: \(refusal)")
    }
}

extension PieceFolder {
    /// True if a playlist of the bundle is stored beside the pieces.
    fileprivate var hasPlaylist: Bool { (try? directory(create: false))?.directory.size(of: "media.m3u8") != nil }
}
