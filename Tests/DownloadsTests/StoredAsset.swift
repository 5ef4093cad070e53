import EventLoop
import Fetching
import Foundation
import HLS
import HTTPMessage
import Orders
import Store
import TestSupport
import Testing

@testable import Assets
@testable import Downloads

/// Assets with the playlists of fixtures, or with given texts, read from disk. Nothing is fetched.
@LoopActor struct StoredAsset {
    let folder: TemporaryFolder
    let store: BundleStore
    let asset: Asset

    init(_ fixture: String, _ ids: String...) throws {
        folder = try TemporaryFolder()
        store = try BundleStore(path: folder.path)
        let base = try WebURL("http://origin/\(fixture)/master.m3u8")
        asset = Asset(id: "a-id", name: "a", title: nil, origin: base, created: 1, store: store)
        guard case .multivariant(let playlist) = try Self.parse("/\(fixture)/master.m3u8") else { return }
        asset.adopt(playlist, base: base)
        for id in ids {
            let rendition = try #require(asset.rendition(id))
            let url = try #require(asset.urls(of: rendition).first)
            guard case .media(let media) = try Self.parse(url.path) else { continue }
            rendition.adopt(Rendition.Source(playlist: media, base: url))
        }
    }

    /// A lone media playlist: `media`.
    init(text: String) throws {
        folder = try TemporaryFolder()
        store = try BundleStore(path: folder.path)
        let base = try WebURL("http://origin/media.m3u8")
        asset = Asset(id: "a-id", name: "a", title: nil, origin: base, created: 1, store: store)
        guard case .media(let media) = try Playlist.parse(Array(text.utf8)) else { return }
        asset.adopt(Rendition.Source(playlist: media, base: base))
    }

    private static func parse(_ path: String) throws -> Playlist { try .parse([UInt8](Repository.fixture(path))) }

    func rendition(_ id: String) throws -> Rendition { try #require(asset.rendition(id)) }

    func put(_ path: String, bytes: Int = 1) throws {
        let parts = path.split(separator: "/").map(String.init)
        try store.bundle("a-id", create: true).subdirectory(parts[0], create: true)
            .write([UInt8](repeating: 0, count: bytes), as: parts[1])
        for folder in asset.folders {
            folder.reread()
        }
    }

    /// A download of these renditions.
    func download(_ ids: String..., range: MediaRange? = nil) -> Download {
        var task = DownloadTask()
        task.add(DownloadTask.Item(Selection(), range: range, renditions: ids))
        return Download(asset, task, state: .queued, created: 1)
    }
}
