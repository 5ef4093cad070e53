import EventLoop
import Fetching
import Store

/// The disks on which assets lie: whether they are there, and what an interrupted move has left on them.
extension Library {
    private static let placePause = Duration.seconds(2)

    /// Throws `store`, with `StoreError.Code.away`, where the disk of an asset is not there.
    public func checkPresence(of asset: Asset) throws(LibraryError) {
        if let absence = asset.bundle.absence {
            throw LibraryError(absence, about: "what is stored of \(asset.name) is on a disk that is not there")
        }
    }

    /// Settles what an earlier process left of moves, and looks from now on whether disks come and go.
    func watchPlaces() {
        for asset in bundles { settleMove(of: asset) }
        for annex in store.annexes {
            if let absence = annex.absence { report("assets are on a disk that is not there: \(absence)") }
        }
        if placeTurn == nil { placeTurn = LoopTimer { [weak self] in self?.lookAtPlaces() } }
        if !store.annexes.isEmpty { placeTurn?.schedule(after: Self.placePause) }
    }

    /// Every asset with a bundle of its own, revisions included.
    private var bundles: [Asset] { assets.flatMap { [$0] + ($0.revision.map { [$0] } ?? []) } }

    private func lookAtPlaces() {
        let annexes = store.annexes
        Task { @LoopActor in
            // A disk in the net may take its time.
            let changed = try? await DiskWork.run { annexes.filter { $0.look() } }
            for place in changed ?? [] { noteChange(of: place) }
            if !store.annexes.isEmpty { placeTurn?.schedule(after: Self.placePause) }
        }
    }

    /// A disk has come or gone.
    private func noteChange(of place: BundlePlace) {
        let isThere = place.absence == nil
        report(isThere ? "\(place.path) is there again" : "assets are on a disk that is not there: \(place.path)")
        for asset in bundles where asset.bundle.place === place || asset.bundle.other === place {
            if asset.bundle.place === place {
                for folder in asset.folders { folder.relook() }
                (asset.knownArtwork, asset.knownVerified) = (nil, nil)
                // What nobody knew of while it was away would be taken for holes.
                if isThere, place.isAfterPowerLoss { for folder in asset.folders { _ = folder.sizes } }
            }
            settleMove(of: asset)
        }
        guard isThere else { return }
        place.noteRecovered()
        events.send(.volumeReturned)
    }

    /// Lets a bundle lie in one place, where a move of it was interrupted and both are there: what is not in use goes.
    private func settleMove(of asset: Asset) {
        let bundle = asset.bundle
        guard let other = bundle.other, readOnlyReason == nil, move(of: asset)?.state != .running else { return }
        do throws(StoreError) {
            if try bundle.place.hasBundle(asset.id) {
                _ = try other.hasBundle(asset.id)
                bundle.other = nil
                Task { @LoopActor in
                    if await clear(asset.id, in: other) { await notePlace(of: asset) }
                }
                return
            } else if try other.hasBundle(asset.id) {
                // It went by a rename that was not noted any more.
                bundle.settle(in: other)
                for folder in asset.folders { folder.relook() }
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

    /// Writes where a bundle lies.
    func notePlace(of asset: Asset) async {
        if asset.isPersistent { await write(.init(places: [asset.placeRecord]), about: asset) }
    }
}

extension Asset {
    /// Whether its bundle lies in the store's own folder.
    public var isHome: Bool { bundle.place.isHome }

    /// The folder on another disk that its bundle lies in, and whether that is there; nil for the store's own.
    public var annex: (path: String, isThere: Bool)? {
        isHome ? nil : (bundle.place.path, bundle.absence == nil)
    }

    /// Where its bundle lies as the catalogue keeps it.
    var placeRecord: PlaceRecord { PlaceRecord(asset: id, in: bundle.place, other: bundle.other) }
}
