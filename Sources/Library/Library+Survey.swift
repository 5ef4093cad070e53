import EventLoop
import Fetching

/// What is on disk, against what is thought to be.
extension Library {
    /// Compares an asset's pieces with the disk, so that what others have deleted or cut is known, and is fetched
    /// again. It takes a few system calls a piece, on another thread; who asks meanwhile joins.
    public func survey(_ asset: Asset) async {
        if let task = asset.surveying { return await task.value }
        let task = Task { @LoopActor in
            for folder in asset.folders { await folder.survey() }
            asset.surveying = nil
            self.publish(asset)
        }
        asset.surveying = task
        await task.value
    }
}
