import Library

/// Answers the library's questions about downloads as a test sets it.
final class DownloadStub: DownloadStatus {
    /// The asset with a download; nil for none.
    var kept: Asset?
    /// The names of the assets that were adopted.
    private(set) var adopted: [String] = []
    let isRoomAwaited = false

    func isKept(_ asset: Asset) -> Bool { asset === kept }
    func isFetched(_ asset: Asset) -> Bool { false }
    func keep(_ asset: Asset) async { adopted.append(asset.name) }
}
