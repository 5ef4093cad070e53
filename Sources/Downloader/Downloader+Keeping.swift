import Glibc
public import Library

extension Downloader {
    /// Registers an asset that was imported or adopted as a complete download, unless nothing of it is stored whole. See
    /// `DownloadStatus`.
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
