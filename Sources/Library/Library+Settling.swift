import EventLoop
import Fetching
import Store

extension Library {
    /// Waits until all that has come whole is a piece that outlives a loss of power, for an orderly stop. Nothing may come
    /// after that.
    public func settle() async {
        await loader.committer.settle()
        await store.close()
    }

    /// Looks into every folder after a loss of power, before anybody plays from it: what came at the very end is not
    /// trusted, and comes again.
    func recover(_ assets: [Asset]) {
        for place in [store.home] + store.volumes where place.isAfterPowerLoss {
            for asset in assets where asset.bundle.place === place {
                for folder in asset.folders { _ = folder.sizes }
            }
            place.markRecovered()
        }
    }

    /// True if a download of the asset is running or will go on by itself.
    package func isFetched(_ asset: Asset) -> Bool { downloads?.isFetched(asset) ?? false }

    /// True if a download waits for room on the store's own disk.
    package var isRoomAwaited: Bool { downloads?.isRoomAwaited ?? false }
}

extension Library: AssetObserver {
    func asset(_ asset: Asset, gainedKey number: Int) { keyCame(number, of: asset) }

    func asset(_ asset: Asset, expiredKeys numbers: [Int]) { lapsed(numbers, of: asset) }

    func assetCompletedRenditions(_ asset: Asset) { publish(asset) }

    func asset(_ asset: Asset, lostPiece error: StoreError) {
        report("\(asset.name): the disk has lost a piece, which comes again: \(error)")
        events.send(.pieceLost(asset))
    }

    func assetChangedPieces(_ asset: Asset) { summaries.note(asset) }
}
