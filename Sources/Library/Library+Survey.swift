import EventLoop
import Fetching

/// Compares the known pieces with the disk.
extension Library {
    /// Compares an asset's pieces with the disk. Files that other programs deleted or truncated become holes, and are
    /// fetched again. It takes a few system calls per piece, on another thread; concurrent calls share one survey.
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
