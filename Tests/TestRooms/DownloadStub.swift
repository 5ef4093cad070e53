package import Assets

/// Answers the library's questions about downloads as a test sets it.
package final class DownloadStub: DownloadStatus {
    /// The asset with a download; nil for none.
    package var kept: Asset?
    /// The names of the assets that were adopted.
    package private(set) var adopted: [String] = []
    package let isRoomAwaited = false

    package init() {}

    package func isKept(_ asset: Asset) -> Bool { asset === kept }
    package func givenUp(of asset: Asset) -> [String: Set<Int>] { [:] }
    package func hasFailed(_ asset: Asset) -> Bool { false }
    package func isFetched(_ asset: Asset) -> Bool { false }
    package func keep(_ asset: Asset) async { adopted.append(asset.name) }
}
