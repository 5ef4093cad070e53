import EventLoop
import HTTPMessage
import Store
import TestSupport
import Testing

@testable import Assets

@Suite @LoopActor struct URLIndexTests {
    private let folder: TemporaryFolder
    private let store: BundleStore

    init() throws {
        folder = try TemporaryFolder()
        store = try BundleStore(path: folder.path)
    }

    private func asset(_ name: String, _ url: String) throws -> Asset {
        Asset(id: name, name: name, title: nil, origin: try WebURL(url), created: 1, store: store)
    }

    @Test func anAssetIsAtItsURLOnly() throws {
        var index = URLIndex()
        let one = try asset("one", "http://o/1")
        let two = try asset("two", "http://o/2?a=b")
        index[one.origin] = one
        index[two.origin] = two
        let known = try ["http://o/1", "http://o/2?a=b"].map { index[try WebURL($0)]?.id }
        #expect(known == ["one", "two"])
        let unknown = try ["http://o/2", "https://o/1"].map { index[try WebURL($0)]?.id }
        #expect(unknown == [nil, nil])
        index[one.origin] = nil
        #expect(index[one.origin] == nil && index[two.origin] === two)
    }

    /// As a relocation does it: the new place first, then the asset's URL, then the old place.
    @Test func anAssetMoves() throws {
        var index = URLIndex()
        let (asset, other) = (try asset("one", "http://o/1"), try asset("two", "http://o/9"))
        let old = asset.origin
        let new = try WebURL("http://p/1")
        index[old] = asset
        index[new] = asset
        #expect(index[old] === asset && index[new] === asset)
        asset.origin = new
        #expect(index[old] == nil && index[new] === asset)
        index[old] = nil
        // Another asset may have the URL now.
        index[old] = other
        #expect(index[old] === other && index[new] === asset)
        other.origin = old
        index[old] = nil
        index[new] = nil
        #expect(index[old] == nil && index[new] == nil)
    }
}
