import Glibc
public import Library

extension Downloader {
    /// Takes note of an asset that came whole by another way than from its origin: it is kept as a download that is
    /// complete.
    public func keep(_ asset: Asset) async {
        let whole = asset.renditions.filter(\.isStored).map(\.name.id)
        guard byAsset[asset.id] == nil, !whole.isEmpty else { return }
        var task = DownloadTask()
        task.add(DownloadTask.Item(Selection(), renditions: whole))
        let download = enter(Download(asset, task, state: .complete, created: Int64(time(nil))))
        tell(download, .state)
        await save(download)
    }
}
