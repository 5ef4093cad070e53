import Glibc
public import Library

extension Downloader {
    /// Registers an imported or adopted asset as a complete download, unless no rendition is complete. See
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
