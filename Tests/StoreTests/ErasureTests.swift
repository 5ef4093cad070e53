import Foundation
import TestSupport
import Testing

@testable import Store

@Suite("S29: a removed asset's rows") struct ErasureTests {
    @Test func leaveNoBytesInTheCatalogue() async throws {
        let folder = try TemporaryFolder()
        let catalogue = try Catalogue(path: folder.path, access: .readWrite)
        let secret = "s29-secret"
        try await catalogue.save(.init(assets: [.sample("kept")]))
        for number in 0..<20 {
            var asset = AssetRecord.sample("gone-\(number)", created: Int64(number))
            asset.title = secret
            asset.origin = "http://o/\(number)?token=\(secret)"
            // Longer than a page, so that overflow pages become free.
            let body = Array(repeatElement("\(secret)\n", count: 2000).joined().utf8)
            let playlist = PlaylistRecord(asset: asset.id, rendition: "", url: secret, body: body, fetched: 1)
            try await catalogue.save(.init(assets: [asset], playlists: [playlist]))
        }
        #expect(try Self.files(in: folder, with: secret) != [])
        for number in 0..<20 {
            try await catalogue.removeAsset("gone-\(number)-id")
        }
        await catalogue.flush()
        #expect(try Self.files(in: folder, with: secret) == [])
        #expect(try Self.files(in: folder, with: "gone-") == [])
        #expect(try Catalogue(path: folder.path, access: .readOnly).initial.assets == [.sample("kept")])
    }

    private static func files(in folder: TemporaryFolder, with text: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
            let bytes = FileManager.default.contents(atPath: folder.path + "/" + path) ?? Data()
            return path.contains(text) || bytes.range(of: Data(text.utf8)) != nil
        }
    }
}
