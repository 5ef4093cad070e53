import Assets
import EventLoop
import Foundation
import Glibc
import HLS
import Orders
import TestRooms
import TestSupport
import Testing

@testable import Downloads

@Suite("W10: a file or range that is listed more than once") @LoopActor struct RepeatedSegmentTests {
    private static let path = "/ts/90p/media.m3u8"

    /// A playlist that lists files of two seconds, each behind a discontinuity.
    private static func playlist(_ files: [String]) -> String {
        let lines = files.flatMap { ["#EXT-X-DISCONTINUITY", "#EXTINF:2.000000,", $0] }.dropFirst()
        let head = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n"
        return head + lines.joined(separator: "\n") + "\n#EXT-X-ENDLIST\n"
    }

    private static let files = ["0.ts", "1.ts", "0.ts", "2.ts", "0.ts"]

    private func house(_ text: String = playlist(files)) async throws -> TestHouse {
        let house = try await TestHouse(.downloader(), .playback())
        try await house.origin.add(OriginRule(Self.path) { ($0.status, $0.body) = (200, text) })
        return house
    }

    private func stored(_ file: String, in house: TestHouse) throws -> (bytes: Data, links: Int, inode: UInt64) {
        let path = try house.folder.find(file)
        var status = stat()
        try #require(lstat(path, &status) == 0)
        let bytes = try Data(contentsOf: URL(filePath: path))
        return (bytes, Int(status.st_nlink), UInt64(status.st_ino))
    }

    @Test("is fetched once, stored once, and counted once")
    func once() async throws {
        let house = try await house()
        let download = try await house.start(Self.path)
        try await waitUntil("the end", within: .seconds(30)) { download.state.isFinal }
        #expect(download.state == .complete)
        #expect(try await house.mediaPaths().sorted() == ["/ts/90p/0.ts", "/ts/90p/1.ts", "/ts/90p/2.ts"])

        let first = try stored("0.ts", in: house)
        #expect(first.links == 3)
        for (number, file) in Self.files.enumerated() {
            let piece = try stored("\(number).ts", in: house)
            #expect(try piece.bytes == Repository.fixture("/ts/90p/\(file)"))
            #expect((piece.inode == first.inode) == (file == "0.ts"))
        }

        var sum = 0
        for file in Set(Self.files) {
            sum += try Repository.fixture("/ts/90p/\(file)").count
        }
        #expect(
            download.progress.bytes == ByteCount(Int64(sum)) && download.progress.totalBytes == download.progress.bytes)
        #expect(download.progress.loaded.duration == 10)
        #expect(download.asset.bytes == Int64(sum) && download.asset.bytesByName > Int64(sum))
        await house.flush()
        try await house.notes(.complete)
        try await house.restart()
        let restarted = try #require(house.library.assets.first)
        #expect(restarted.bytes == Int64(sum))
    }

    /// Their text is short, so that it is read on the loop; what is listed twice is sought on a worker.
    @Test("is fetched once of a playlist of so many segments, too", arguments: [4_096, 4_200])
    func many(_ count: Int) async throws {
        let lines = String(repeating: "#EXTINF:2,\n0.ts\n", count: count)
        let house = try await house("#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(lines)#EXT-X-ENDLIST\n")
        let download = try await house.start(Self.path)
        try await waitUntil("the end", within: .seconds(60)) { download.state.isFinal }
        #expect(download.state == .complete)
        #expect(try await house.mediaPaths() == ["/ts/90p/0.ts"])
        #expect(try download.asset.bytes == Int64(Repository.fixture("/ts/90p/0.ts").count))
    }

    @Test("plays offline where it is listed, and is verified after a restart as any piece")
    func offline() async throws {
        let house = try await house()
        let download = try await house.start(Self.path)
        try await waitUntil("the end", within: .seconds(30)) { download.state.isFinal }
        let name = download.asset.name
        for _ in 0..<2 {
            let entry = try await HTTPProbe.fetch(house.players.url("/offline/\(name).m3u8")).text
            let uris = entry.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
            #expect(uris.count == 5 && Set(uris).count == 5)
            for (uri, file) in zip(uris, Self.files) {
                let answer = try await HTTPProbe.fetch(house.players.url(uri))
                #expect(try answer.status == 200 && answer.body == Repository.fixture("/ts/90p/\(file)"))
            }
            await house.flush()
            try await house.notes(.complete)
            try await house.restart()
        }
    }

    @Test("is asked for once by players that ask for several listings at the same time")
    func players() async throws {
        let house = try await house()
        try await house.origin.add(OriginRule("/ts/90p/0.ts") { $0.hold = true })
        let entry = try await HTTPProbe.fetch(house.players.url("/" + house.origin.url(Self.path))).text
        let uris = entry.split(separator: "\n").filter { !$0.hasPrefix("#") }.map(String.init)
        async let one = HTTPProbe.fetch(house.players.url(uris[0]))
        async let two = HTTPProbe.fetch(house.players.url(uris[2]))
        try await waitUntil("the request") { try await house.origin.requests(for: "/ts/90p/0.ts").count == 1 }
        try await house.origin.release()
        let film = try Repository.fixture("/ts/90p/0.ts")
        let bodies = try await [one.body, two.body]
        #expect(bodies == [film, film])
        let three = try await HTTPProbe.fetch(house.players.url(uris[4]))
        #expect(three.body == film)
        #expect(try await house.mediaPaths() == ["/ts/90p/0.ts"])
    }

    @Test("keeps the key and the vector of each listing: the bytes are the origin's")
    func encrypted() async throws {
        let keys = ["IV=0x01", "IV=0x02"].map { "#EXT-X-KEY:METHOD=AES-128,URI=\"../keys/0.key\",\($0)" }
        let lines = keys.flatMap { [$0, "#EXTINF:2.000000,", "0.ts"] }.joined(separator: "\n")
        let text = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n\(lines)\n#EXT-X-ENDLIST\n"
        let house = try await TestHouse(.downloader(), .playback())
        try await house.origin.add(OriginRule("/aes/90p/media.m3u8") { ($0.status, $0.body) = (200, text) })
        let download = try await house.start("/aes/90p/media.m3u8")
        try await waitUntil("the end", within: .seconds(30)) { download.state.isFinal }
        // Neither vector is the origin's, which spoils the first block only, and the pieces are kept as they are.
        #expect(download.state == .complete)
        #expect(try await house.mediaPaths().filter { $0.hasSuffix(".ts") } == ["/aes/90p/0.ts"])
        let path = try house.folder.find("1.ts")
        #expect(try Data(contentsOf: URL(filePath: path)) == Repository.fixture("/aes/90p/0.ts"))
    }

    @Test("as a range in several variants, is fetched once, with its section")
    func variants() async throws {
        let house = try await TestHouse(.downloader(), .playback())
        let text = String(decoding: try Repository.fixture("/byterange-fmp4/90p/media.m3u8"), as: UTF8.self)
        let other = text.replacing("all.mp4", with: "../90p/all.mp4")
        try await house.origin.add(
            OriginRule("/byterange-fmp4/180p/media.m3u8") { ($0.status, $0.body) = (200, other) })
        let download = try await house.start("/byterange-fmp4/master.m3u8")
        try await waitUntil("the first", within: .seconds(30)) { download.state.isFinal }
        #expect(download.state == .complete)
        try await house.origin.clearRequests()
        _ = try await house.start("/byterange-fmp4/master.m3u8", Selection(quality: .best))
        try await waitUntil("the second", within: .seconds(30)) {
            download.state == .complete && download.asset.content.completeRenditions.count == 2
        }
        // What is asked for are beginnings of what is stored, to compare them.
        let ranges = try await house.origin.requests().filter { $0.path.hasSuffix(".mp4") }.compactMap(\.range)
        let bounds = ranges.map { $0.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) } }
        #expect(bounds.allSatisfy { $0.count == 2 && $0[1] - $0[0] < 4096 }, "\(ranges)")
        for number in 0..<6 {
            #expect(try stored("video-180p/\(number).mp4", in: house).links == 2)
        }
        let section = try stored("video-180p/init-0.mp4", in: house)
        #expect(section.links == 2 && section.bytes.count == 1356)
    }
}
