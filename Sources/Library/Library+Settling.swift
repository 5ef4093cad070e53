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

    /// The disk has lost a piece that had come.
    func noteLoss(of asset: Asset, _ error: StoreError) {
        report("\(asset.name): the disk has lost a piece, which comes again: \(error)")
        pieceLost(asset)
    }
}
