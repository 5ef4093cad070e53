import Assets
import EventLoop
import Foundation
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Playback

@Suite @LoopActor struct PlaybackTests {
    private func fixtureBytes(_ path: String) throws -> Data { try Repository.fixture(path) }

    // MARK: From the origin and from the store

    @Test func aPresentationPlaysAndIsThenServedFromTheStore() async throws {
        let fixture = try await TestHouse(.playback())
        let entry = try await fixture.get(fixture.typed("/aes/master.m3u8"))
        #expect(entry.status == 200)
        #expect(entry["content-type"] == "application/vnd.apple.mpegurl")
        #expect(entry["cache-control"] == "no-cache")
        let paths = try await fixture.media(fixture.typed("/aes/master.m3u8"))
        #expect(paths.count == 12)
        #expect(paths.allSatisfy { $0.hasPrefix("/a/aes-") })
        for path in paths {
            let first = try await fixture.get(path)
            #expect(first.status == 200 && first.isComplete)
            let again = try await fixture.get(path)
            #expect(again.body == first.body)
            #expect(again["etag"] != nil)
            #expect(again["accept-ranges"] == "bytes")
            #expect(again["content-type"] == (path.hasSuffix(".ts") ? "video/mp2t" : "application/octet-stream"))
        }
        let segments = paths.filter { $0.hasSuffix(".ts") }
        #expect(try await fixture.get(segments[3]).body == fixtureBytes("/aes/90p/3.ts"))
        let requests = try await fixture.mediaPaths()
        #expect(requests.count == 9 && Set(requests).count == 9)
    }

    @Test func aStreamOfTheStreamsFilePlaysByName() async throws {
        let fixture = try await TestHouse(.playback())
        let url = try WebURL(fixture.origin.master("ts"))
        fixture.library.streams = [try #require(KnownStream(name: "film", title: "The film", url: url))]
        #expect(try await fixture.origin.requests().isEmpty)
        #expect(try await fixture.get("/offline/film.m3u8").status == 404)
        #expect(try await fixture.origin.requests().isEmpty)
        let paths = try await fixture.media("/film.m3u8")
        #expect(try await fixture.get(paths[0]).isComplete)
        #expect(try fixture.asset("film").title == "The film")
        #expect(try await fixture.get("/other.m3u8").status == 404)
    }

    /// Small pieces stay in memory once they were served. A change on disk must still be noticed, also of a file with another link.
    @Test(arguments: [".key", "/0.ts"])
    func aPieceFollowsChangesOnDisk(end: String) async throws {
        let fixture = try await TestHouse(.playback())
        let path = try #require(
            try await fixture.media(fixture.typed("/aes/master.m3u8")).first { $0.hasSuffix(end) })
        let first = try await fixture.get(path)
        for _ in 0..<2 {
            #expect(try await fixture.get(path).body == first.body)
        }
        let part = try await fixture.get(path, ["Range": "bytes=4-7"])
        #expect(part.status == 206 && part.body == first.body[4..<8])
        let tag = try #require(try await fixture.get(path)["etag"])
        #expect(try await fixture.get(path, ["If-None-Match": tag]).status == 304)
        #expect(try await fixture.mediaPaths().count == 1)

        let asset = try #require(fixture.library.assets.first)
        let pieces = path.split(separator: "/").suffix(2).joined(separator: "/")
        let file = fixture.folder.path("assets/\(asset.id)/" + pieces)
        try FileManager.default.removeItem(atPath: file)
        #expect(try await fixture.get(path).body == first.body)
        #expect(try await fixture.mediaPaths().count == 2)
    }

    @Test func twentyPlayersOnAColdSegmentMakeOneRequest() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 5000 })
        let url = fixture.players.url(path)
        let players = (0..<20).map { _ in Task { try await HTTPProbe.fetch(url) } }
        try await waitUntil("the request") { try await fixture.origin.load().paused == 1 }
        try await fixture.origin.release()
        let bytes = try fixtureBytes("/ts/90p/0.ts")
        for player in players {
            #expect(try await player.value.body == bytes)
        }
        #expect(try await fixture.mediaPaths().count == 1)
    }

    @Test func theFirstBytesAreSentBeforeTheLastArrive() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 5000 })
        let connection = try await fixture.ask(path)
        let head = String(decoding: try await connection.receiveHead().bytes, as: UTF8.self).lowercased()
        let bytes = try fixtureBytes("/ts/90p/0.ts")
        #expect(head.contains("content-length: \(bytes.count)"))
        #expect(try await connection.receive(count: 5000).bytes == bytes.prefix(5000))
        try await fixture.origin.release()
        #expect(try await connection.receive(count: bytes.count - 5000).bytes == bytes.dropFirst(5000))
    }

    @Test func aBodyOfUnknownLengthIsServedInChunks() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        try await fixture.origin.add(OriginRule("*.ts") { ($0.chunked, $0.pauseAfter) = (true, 5000) })
        let url = fixture.players.url(path)
        let player = Task { try await HTTPProbe.fetch(url) }
        try await waitUntil("the request") { try await fixture.origin.load().paused == 1 }
        try await fixture.origin.release()
        let answer = try await player.value
        #expect(answer.isComplete)
        #expect(answer.body == (try fixtureBytes("/ts/90p/0.ts")))
    }

    // MARK: HTTP

    @Test func headMatchesGetWithoutTheBody() async throws {
        let fixture = try await TestHouse(.playback())
        let media = try await fixture.entry(fixture.typed("/ts/master.m3u8"))[0]
        let segment = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        for path in [fixture.typed("/ts/master.m3u8"), media, segment, segment] {
            let head = try await fixture.get(path, method: "HEAD")
            #expect(head.status == 200)
            #expect(head.body.isEmpty)
            let get = try await fixture.get(path)
            #expect(head["content-length"] == String(get.body.count))
            #expect(head["content-type"] == get["content-type"])
        }
    }

    @Test func aRangeOfAPieceIsPartialContent() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        let bytes = try await fixture.get(path).body
        let part = try await fixture.get(path, ["range": "bytes=100-199"])
        #expect(part.status == 206)
        #expect(part.body == bytes[100..<200])
        #expect(part["content-range"] == "bytes 100-199/\(bytes.count)")
        #expect(try await fixture.get(path, ["range": "bytes=-10"]).body == bytes.suffix(10))
        let beyond = try await fixture.get(path, ["range": "bytes=\(bytes.count)-"])
        #expect(beyond.status == 416)
        #expect(beyond["content-range"] == "bytes */\(bytes.count)")
    }

    @Test func aRangeOfAGrowingFileIsPartialContent() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        try await fixture.origin.add(OriginRule("*.ts") { $0.pauseAfter = 5000 })
        let bytes = try fixtureBytes("/ts/90p/0.ts")
        let url = fixture.players.url(path)
        // A reader of the whole keeps the transfer.
        let whole = Task { try await HTTPProbe.fetch(url) }
        try await waitUntil("the first half") { try await fixture.origin.load().paused == 1 }
        let early = try await fixture.get(path, ["range": "bytes=1000-1999"])
        #expect(early.status == 206)
        #expect(early.body == bytes[1000..<2000])
        let late = Task { try await HTTPProbe.fetch(url, fields: ["range": "bytes=4000-8999"]) }
        try await fixture.origin.release()
        #expect(try await late.value.body == bytes[4000..<9000])
        #expect(try await whole.value.body == bytes)
        #expect(try await fixture.mediaPaths().count == 1)
    }

    @Test func conditionalRequestsAreAnsweredNotModified() async throws {
        let fixture = try await TestHouse(.playback())
        let media = try await fixture.entry(fixture.typed("/ts/master.m3u8"))[0]
        let segment = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        _ = try await fixture.get(segment)
        for path in [media, segment] {
            let tag = try #require(try await fixture.get(path)["etag"])
            let again = try await fixture.get(path, ["if-none-match": tag])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
            #expect(try await fixture.get(path, ["if-none-match": "\"other\""]).status == 200)
        }
    }

    @Test func onlyReadingMethodsAreAllowed() async throws {
        let fixture = try await TestHouse(.playback())
        let media = try await fixture.entry(fixture.typed("/ts/master.m3u8"))[0]
        for path in [media, "/ts.m3u8", fixture.typed("/ts/master.m3u8")] {
            let answer = try await fixture.get(path, method: "DELETE")
            #expect(answer.status == 405)
            #expect(answer["allow"] == "GET, HEAD, OPTIONS")
        }
    }

    /// As other servers do: its player has not resolved the URI of the playlist.
    @Test func aKeyIsServedByAPathWithDots() async throws {
        let fixture = try await TestHouse(.playback())
        let list = try await fixture.entry(fixture.typed("/aes/master.m3u8"))[0]
        for path in try await fixture.paths(at: list) {
            #expect(try await fixture.get(path).status == 200)
        }
        for _ in 0..<2 {
            let connection = try await fixture.ask(list.replacing("media.m3u8", with: "../keys/0.key"))
            let head = try await connection.receiveHead().bytes
            #expect(String(decoding: head, as: UTF8.self).hasPrefix("HTTP/1.1 200 OK"))
            #expect(try await connection.receive(count: 16).bytes == Repository.fixture("/aes/keys/0.key"))
        }
    }

    @Test func unknownPathsAre404WithAMessage() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        let folder = String(path.dropLast("0.ts".count))
        let missing = [
            "/nothing.m3u8", "/offline/nothing.m3u8", folder + "6.ts", folder + "00.ts", folder + "0.m4s",
            folder + "init-0.mp4", folder + "0.key", folder + "..", folder + "%2e%2e", folder + "0.ts.new",
            path.replacing("/video-90p/", with: "/video-91p/"), path.replacing("/video-90p/", with: "/keys/"),
            path.replacing("/a/ts-", with: "/a/xx-"), path.replacing("/video-90p/0.ts", with: "/keys/0.key"),
        ]
        for path in missing {
            let answer = try await fixture.get(path)
            #expect(answer.status == 404, "\(path)")
            #expect(answer.body.count > 10 && answer["content-type"]?.hasPrefix("text/plain") == true)
        }
        #expect(try await fixture.mediaPaths().isEmpty)
    }
}
