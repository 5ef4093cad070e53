import EventLoop
import HTTPMessage
import Origin
import Store
import TestRooms
import TestSupport
import Testing

@testable import Assets
@testable import Fetching

@Suite @LoopActor struct RecentFetchesTests {
    private let fixture: TestHouse
    private let rendition: Rendition

    init() async throws {
        fixture = try await TestHouse()
        rendition = try await fixture.rendition("video-90p", of: fixture.open("/ts/master.m3u8"))
    }

    /// A finished fetch with its key.
    private func ended(_ number: Int, bytes: Int) throws -> (Fetch, Loader.Key) {
        let url = try WebURL("http://127.0.0.1:1/\(number).ts")
        let resource = Resource(name: PieceName(.segment(number), fileExtension: "ts"), url: url, range: nil)
        let file = try GrowingFile(anonymousIn: nil)
        let content = [UInt8](repeating: 0x47, count: bytes)
        let result = content.withUnsafeBytes { buffer in Result { try file.write(buffer, at: 0) } }
        try result.get()
        file.finish()
        let fetch = Fetch(
            resource, folder: nil, file: file, storageFailure: nil, client: OriginClient(),
            access: OriginAccess(to: url)
        )
        return (fetch, Loader.Key(folder: ObjectIdentifier(rendition.folder), resource: resource))
    }

    @Test(arguments: [(count: 3, bytes: 1_000), (count: 100, bytes: 30)])
    func dropsTheOldestAboveTheNumberOrSizeLimit(count: Int, bytes: Int) throws {
        let recent = RecentFetches(.init(age: .seconds(60), count: count, bytes: Int64(bytes)))
        let all = try (0..<5).map { try ended($0, bytes: 10) }
        for (fetch, key) in all {
            recent.insert(fetch, key)
        }
        #expect(all.map { recent[$0.1] === $0.0 } == [false, false, true, true, true])
        let (large, key) = try ended(9, bytes: bytes + 1)
        recent.insert(large, key)
        #expect(recent[key] == nil && recent[all[4].1] != nil)
        recent.remove { $0 == all[3].1 }
        #expect(all.map { recent[$0.1] != nil } == [false, false, true, false, true])
    }

    @Test func dropsOldFetches() async throws {
        let recent = RecentFetches(.init(age: .milliseconds(30), count: 9, bytes: 1_000))
        let all = try (0..<3).map { try ended($0, bytes: 10) }
        for (fetch, key) in all {
            recent.insert(fetch, key)
        }
        try await waitUntil("their end") { @LoopActor in all.allSatisfy { recent[$0.1] == nil } }
    }
}
