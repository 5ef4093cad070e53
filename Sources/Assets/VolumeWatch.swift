public import EventLoop
import Fetching
package import Store

/// Knows the space on disks, watches the volumes of assets, and cleans up after interrupted moves.
@LoopActor public struct VolumeWatch {
    let library: Library
    private static let pause = Duration.seconds(2)
    /// The bytes that the store's own folder can still take before its disk's reserve; nil if unknown or read-only.
    public var room: Int64? {
        guard library.readOnlyReason == nil else { return nil }
        return library.store.room
    }

    /// The bytes that can still be stored on the volume of an asset; nil as for `room`.
    public func room(for asset: Asset) -> Int64? {
        guard library.readOnlyReason == nil else { return nil }
        return library.store.room(in: asset.bundle.volume)
    }

    /// Throws `store`, with `StoreError.Code.away`, if the volume of an asset is not mounted.
    public func checkPresence(of asset: Asset) throws(LibraryError) {
        if let absence = asset.bundle.absence {
            throw LibraryError(absence, about: "the stored files of \(asset.name) are on a disk that is not mounted")
        }
    }

    package func isMoving(_ asset: Asset) -> Bool { library.moves?.isMoving(asset) ?? false }

    /// Throws `busy` while an asset is being moved.
    package func checkNotMoving(_ asset: Asset) throws(LibraryError) {
        guard isMoving(asset) else { return }
        throw LibraryError(.busy, "\(asset.name) stays where it is for now: it is being moved")
    }

    /// Cleans up after moves and removals of an earlier process, and starts to watch volumes.
    func watch() {
        var begun = Set(([library.store.home] + library.store.volumes).flatMap(library.store.unfinishedRemovals))
        // The process ended before the catalogue had forgotten an asset on a volume that is away: it would vanish with its return.
        begun.formUnion(library.store.begunRemovals.filter { library.asset(id: $0) != nil })
        library.removalCompletion = completeRemovals(of: begun)
        for asset in bundles {
            adoptRest(of: asset)
            completeMove(of: asset)
        }
        for volume in library.store.volumes {
            if let absence = volume.absence, let mark = volume.mark {
                library.absentVolumes.insert(mark)
                library.report("a disk with stored files is not mounted: \(absence)")
            }
        }
        library.volumeTimer = LoopTimer { [weak library] in library?.volumes.check() }
        if !library.store.volumes.isEmpty {
            watchSoon()
        }
    }

    /// Returns once what an earlier process had begun to remove is in no list any more.
    package func completeBegunRemovals() async {
        await library.removalCompletion?.value
        library.removalCompletion = nil
    }

    /// Checks the volumes in two seconds, because one may be new.
    package func watchSoon() { library.volumeTimer?.schedule(after: Self.pause) }

    /// The marks of the volumes, without the store's own folder, that assets are on, or may be on in part.
    package var occupiedMarks: Set<String> {
        let volumes = bundles.flatMap { [$0.bundle.volume, $0.bundle.other].compactMap(\.self) }
        return Set(volumes.compactMap(\.mark))
    }

    /// All assets with a bundle of their own, including revisions.
    private var bundles: [Asset] { library.assets.flatMap { [$0, $0.revision].compactMap(\.self) } }

    private func check() {
        let volumes = library.store.volumes
        Task { @LoopActor in
            // A network disk may be slow.
            try? await DiskWork.run {
                for volume in volumes {
                    volume.checkPresence()
                }
            }
            // Compared with what was last handled: a move may have noticed a change meanwhile.
            for volume in volumes {
                if let mark = volume.mark, library.absentVolumes.contains(mark) != (volume.absence != nil) {
                    handleChange(of: volume, mark: mark)
                }
            }
            completeOverdueRemovals()
            if !library.store.volumes.isEmpty {
                watchSoon()
            }
        }
    }

    private func handleChange(of volume: Volume, mark: String) {
        let isThere = volume.absence == nil
        if isThere {
            library.absentVolumes.remove(mark)
        } else {
            library.absentVolumes.insert(mark)
        }
        if isThere {
            library.report("\(volume.path) is mounted again")
            completeRemovals(in: volume)
        } else {
            library.report("a disk with stored files is not mounted: \(volume.path)")
        }
        for asset in bundles where asset.bundle.volume === volume || asset.bundle.other === volume {
            if asset.bundle.volume === volume {
                for folder in asset.folders {
                    folder.forget()
                }
                asset.knownVerified = nil
                asset.loadedContent?.reloadAdditions()
                // Without this, pieces that were not read while the volume was unmounted would count as holes.
                if isThere, volume.isAfterPowerLoss {
                    for folder in asset.folders {
                        _ = folder.sizes
                    }
                }
            }
            completeMove(of: asset)
        }
        guard isThere else { return }
        volume.markRecovered()
        library.events.send(.volumeReturned)
    }

    // MARK: Removals

    /// Completes removals that were interrupted, or that waited for this volume.
    private func completeRemovals(in volume: Volume) {
        completeRemovals(of: Set(library.store.unfinishedRemovals(in: volume)))
    }

    @discardableResult private func completeRemovals(of ids: Set<String>) -> Task<Void, Never>? {
        guard !ids.isEmpty else { return nil }
        return Task { @LoopActor in
            for id in ids.sorted() {
                do {
                    try await completeRemoval(of: id)
                } catch {
                    library.report("the removal of \(id) cannot be completed now; the next start tries again: \(error)")
                }
            }
        }
    }

    /// Completes the removals that were waiting at the look before, although their volume is there: it was away for so short that
    /// no look noticed it. What fails is tried again two looks later.
    private func completeOverdueRemovals() {
        let waiting = library.store.removalsToComplete
        let overdue = waiting.intersection(library.removalsToComplete)
        library.removalsToComplete = waiting
        guard !overdue.isEmpty else { return }
        Task { @LoopActor in
            // The removal of an asset that is still there goes on.
            for id in overdue.sorted() where library.asset(id: id) == nil {
                try? await library.eraseFolders(of: id)
            }
        }
    }

    private func completeRemoval(of id: String) async throws {
        if let asset = library.asset(id: id) {
            // The process ended before the catalogue had forgotten the asset.
            if asset.isRevision {
                return await library.revisions.abandon(asset)
            }
            if await library.revisions.supersede(asset) {
                return
            }
            _ = try await library.remove(asset)
            return
        }
        try await library.eraseFolders(of: id)
    }

    // MARK: Moves

    /// Finds what an earlier version left in the store's own folder when an asset moved while its download began.
    private func adoptRest(of asset: Asset) {
        let home = library.store.home
        guard asset.bundle.other == nil, !asset.isHome, (try? home.hasBundle(asset.id)) ?? false else { return }
        asset.bundle.other = home
    }

    /// Completes an interrupted move of a bundle once both volumes are mounted: deletes the copy that is not in use.
    private func completeMove(of asset: Asset) {
        let bundle = asset.bundle
        guard let other = bundle.other, library.readOnlyReason == nil, !isMoving(asset) else { return }
        do throws(StoreError) {
            if try bundle.volume.hasBundle(asset.id) {
                _ = try other.hasBundle(asset.id)
                bundle.other = nil
                Task { @LoopActor in
                    if await clear(asset.id, in: other) {
                        await library.records.saveVolume(of: asset)
                    }
                }
                return
            } else if try other.hasBundle(asset.id) {
                // The bundle was moved, and the process ended before the catalogue recorded that.
                bundle.relocate(to: other)
                for folder in asset.folders {
                    folder.forget()
                }
            } else {
                bundle.other = nil
            }
        } catch {
            if error.code != .away {
                library.report("\(asset.name): the files that a move has left cannot be deleted: \(error)")
            } else if bundle.absence == nil, (try? bundle.volume.hasBundle(asset.id)) == false {
                // The bundle can only be on the volume that is away. Here a new one would be begun, and the old one deleted.
                bundle.relocate(to: other, other: bundle.volume)
                for folder in asset.folders {
                    folder.forget()
                }
            }
            return
        }
        Task { @LoopActor in await library.records.saveVolume(of: asset) }
    }

    /// Deletes a bundle from a volume, and returns when all its files are deleted: only then may the catalogue forget
    /// the volume. Returns true on success.
    package func clear(_ id: String, in volume: Volume) async -> Bool {
        await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            do throws(StoreError) {
                try library.store.removeBundle(id, in: volume) { done.resume(returning: true) }
            } catch {
                done.resume(returning: false)
            }
        }
    }
}
