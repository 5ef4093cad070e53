import EventLoop
import Fetching
import Store

extension Library {
    /// Waits until all complete files are pieces that survive a power loss, for an orderly stop. No data may arrive
    /// after that.
    public func settle() async {
        await loader.committer.finish()
        await store.close()
    }

    /// Checks every folder after a power loss, before anything plays from it: the most recent files are not trusted,
    /// and are fetched again.
    func recover(_ assets: [Asset]) {
        for place in [store.home] + store.volumes where place.isAfterPowerLoss {
            for asset in assets where asset.bundle.place === place {
                for folder in asset.folders { _ = folder.sizes }
            }
            place.markRecovered()
        }
    }

    /// True if a download of the asset is running or will continue by itself.
    package func isFetched(_ asset: Asset) -> Bool { downloads?.isFetched(asset) ?? false }

    /// True if a download waits for space on the store's own disk.
    package var isRoomAwaited: Bool { downloads?.isRoomAwaited ?? false }
}

extension Library: AssetObserver {
    func asset(_ asset: Asset, gainedKey number: Int) { keyCame(number, of: asset) }

    func asset(_ asset: Asset, expiredKeys numbers: [Int]) { keysExpired(numbers, of: asset) }

    func assetCompletedRenditions(_ asset: Asset) { publish(asset) }

    func asset(_ asset: Asset, lostPiece error: StoreError) {
        report("\(asset.name): the disk has lost a piece, which comes again: \(error)")
        events.send(.pieceLost(asset))
    }

    func assetChangedPieces(_ asset: Asset) { summaries.note(asset) }
}
