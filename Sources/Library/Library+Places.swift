public import EventLoop
import Fetching
package import Store

/// Answers the library's questions about moves of assets to other volumes.
@LoopActor public protocol MoveStatus: AnyObject {
    /// True while the asset's bundle is being moved.
    func isMoving(_ asset: Asset) -> Bool

    /// Returns once the asset's bundle is not being moved any more.
    func waitForMove(of asset: Asset) async

    /// Cancels the move of an asset that is being removed, and forgets the asset.
    func forget(_ asset: Asset)
}

/// Watches the volumes of assets, and cleans up after interrupted moves.
extension Library {
    private static let placePause = Duration.seconds(2)

    /// Throws `store`, with `StoreError.Code.away`, if the volume of an asset is not mounted.
    public func checkPresence(of asset: Asset) throws(LibraryError) {
        if let absence = asset.bundle.absence {
            throw LibraryError(absence, about: "what is stored of \(asset.name) is on a disk that is not there")
        }
    }

    /// True while an asset's bundle is being moved.
    package func isMoving(_ asset: Asset) -> Bool { moves?.isMoving(asset) ?? false }

    /// Throws `busy` while an asset is being moved.
    package func checkStill(_ asset: Asset) throws(LibraryError) {
        guard isMoving(asset) else { return }
        throw LibraryError(.busy, "\(asset.name) stays where it is for now: it is being moved")
    }

    /// Cleans up after moves of an earlier process, and starts to watch volumes.
    func watchPlaces() {
        for asset in bundles { settleMove(of: asset) }
        for volume in store.volumes {
            if let absence = volume.absence { report("assets are on a disk that is not there: \(absence)") }
        }
        if placeTurn == nil { placeTurn = LoopTimer { [weak self] in self?.lookAtPlaces() } }
        if !store.volumes.isEmpty { watchPlacesSoon() }
    }

    /// Checks the volumes in two seconds, because one may be new.
    package func watchPlacesSoon() { placeTurn?.schedule(after: Self.placePause) }

    /// All assets with a bundle of their own, including revisions.
    private var bundles: [Asset] { assets.flatMap { [$0] + ($0.revision.map { [$0] } ?? []) } }

    private func lookAtPlaces() {
        let volumes = store.volumes
        Task { @LoopActor in
            // A network disk may be slow.
            let changed = try? await DiskWork.run { volumes.filter { $0.look() } }
            for place in changed ?? [] { noteChange(of: place) }
            if !store.volumes.isEmpty { watchPlacesSoon() }
        }
    }

    /// Reacts to a volume that was mounted or unmounted.
    private func noteChange(of place: Volume) {
        let isThere = place.absence == nil
        report(isThere ? "\(place.path) is there again" : "assets are on a disk that is not there: \(place.path)")
        for asset in bundles where asset.bundle.place === place || asset.bundle.other === place {
            if asset.bundle.place === place {
                for folder in asset.folders { folder.forget() }
                (asset.knownArtwork, asset.knownVerified) = (nil, nil)
                // Without this, pieces that were not read while the volume was unmounted would count as holes.
                if isThere, place.isAfterPowerLoss { for folder in asset.folders { _ = folder.sizes } }
            }
            settleMove(of: asset)
        }
        guard isThere else { return }
        place.markRecovered()
        events.send(.volumeReturned)
    }

    /// Completes an interrupted move of a bundle once both volumes are mounted: deletes the copy that is not in use.
    private func settleMove(of asset: Asset) {
        let bundle = asset.bundle
        guard let other = bundle.other, readOnlyReason == nil, !isMoving(asset) else { return }
        do throws(StoreError) {
            if try bundle.place.hasBundle(asset.id) {
                _ = try other.hasBundle(asset.id)
                bundle.other = nil
                Task { @LoopActor in
                    if await clear(asset.id, in: other) { await notePlace(of: asset) }
                }
                return
            } else if try other.hasBundle(asset.id) {
                // The bundle was moved, and the process ended before the catalogue recorded that.
                bundle.relocate(to: other)
                for folder in asset.folders { folder.forget() }
            } else {
                _ = try other.hasBundle(asset.id)
                bundle.other = nil
            }
        } catch {
            if error.code != .away { report("\(asset.name): what a move has left is not cleared away: \(error)") }
            return
        }
        Task { @LoopActor in await notePlace(of: asset) }
    }

    /// Deletes a bundle from a volume, and returns when all its files are deleted: only then may the catalogue forget the
    /// volume.
    ///
    /// - Returns: true if they are.
    package func clear(_ id: String, in place: Volume) async -> Bool {
        await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            do throws(StoreError) {
                try store.removeBundle(id, in: place) { done.resume(returning: true) }
            } catch {
                done.resume(returning: false)
            }
        }
    }

    /// Writes the volume of a bundle to the catalogue.
    package func notePlace(of asset: Asset) async {
        if asset.isPersistent { await write(.init(volumes: [asset.volumeRecord]), about: asset) }
    }
}

extension Asset {
    /// True if its bundle is in the store's own folder.
    public var isHome: Bool { bundle.place.isHome }

    /// The folder of its bundle on another volume, and true if that is mounted; nil for the store's own folder.
    public var volume: (path: String, isThere: Bool)? {
        isHome ? nil : (bundle.place.path, bundle.absence == nil)
    }

    /// The catalogue's record of its bundle's volume.
    var volumeRecord: VolumeRecord { VolumeRecord(asset: id, in: bundle.place, other: bundle.other) }
}
