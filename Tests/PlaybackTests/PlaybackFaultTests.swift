import Assets
import EventLoop
import Foundation
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Responses to players if a URL is refused, or if the origin fails.
@Suite @LoopActor struct PlaybackFaultTests {
    private func fixtureBytes(_ path: String) throws -> Data { try Repository.fixture(path) }

    @Test(
        arguments: [
            "/file:///etc/passwd", "/ftp://127.0.0.1/a.m3u8", "/ftp://user:word@127.0.0.1/a.m3u8", "/http:///a.m3u8",
        ])
    func aRefusedURLIsForbidden(_ path: String) async throws {
        let fixture = try await TestHouse(.playback())
        let answer = try await fixture.get(path)
        #expect(answer.status == 403)
        #expect(!answer.text.contains("word@"))
    }

    @Test func aBadPlaylistIsABadGatewayThatNamesTheResponse() async throws {
        let fixture = try await TestHouse(.playback())
        try await fixture.origin.add(OriginRule("/page*") { $0.html = true }, OriginRule("/down*") { $0.status = 404 })
        let page = try await fixture.get(fixture.typed("/page.m3u8?token=secret"))
        #expect(page.status == 502)
        #expect(page.text.contains("HTML"))
        #expect(!page.text.contains("secret"))
        #expect(fixture.library.assets.isEmpty)
    }

    @Test(arguments: [
        (401, "weir play --header"), (403, "--cookies"), (404, "weir check http"), (410, "weir check http"),
        (451, "weir play --proxy"),
    ])
    func aRefusedPlaylistKeepsTheOriginsStatusAndNamesTheNextCommand(_ status: Int, _ words: String) async throws {
        let fixture = try await TestHouse(.playback())
        let media = try await fixture.entry(fixture.typed("/ts/master.m3u8"))[0]
        try await fixture.origin.add(
            OriginRule("*.m3u8*") { ($0.status, $0.headers) = (status, ["WWW-Authenticate": "Basic"]) })
        for path in [fixture.typed("/aes/master.m3u8?token=secret"), media] {
            let answer = try await fixture.get(path)
            #expect(answer.status == status && answer.text.contains("\(status)"), "\(answer.status) \(answer.text)")
            #expect(
                answer.text.replacing("'", with: "").contains(words) && answer.text.hasSuffix("\n")
                    && !answer.text.contains("secret"))
            #expect(answer["www-authenticate"] == nil)
        }
    }

    @Test func anAbsentOriginIsAGatewayTimeout() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        try await fixture.stopOrigin()
        #expect(try await fixture.get(fixture.typed("/aes/master.m3u8")).status == 504)
        #expect(try await fixture.get(path).status == 504)
    }

    @Test(arguments: ["ts", "aes", "byterange-fmp4"])
    func aSilentOriginIsAwaitedAfterTheHeadWithoutAlternatives(_ name: String) async throws {
        let fixture = try await TestHouse(.playback { $0.playerTimeout = .milliseconds(100) })
        let paths = try await fixture.media(fixture.typed("/\(name)/master.m3u8"))
        // A segment, a key of 16 or 32 bytes, and an initialization section.
        let path = paths[0]
        try await fixture.origin.add(OriginRule("*") { $0.hold = true })
        let connection = try await fixture.ask(path, "Connection: close")
        let head = String(decoding: try await connection.receiveHead().bytes, as: UTF8.self)
        #expect(head.hasPrefix("HTTP/1.1 200 "))
        let isOfKnownLength = name == "byterange-fmp4"
        #expect(head.contains("\r\nContent-Length: ") == isOfKnownLength)
        #expect(head.contains("\r\nTransfer-Encoding: chunked\r\n") != isOfKnownLength)
        try await fixture.origin.clearRules()
        try await fixture.origin.release()
        let answer = try await connection.receive()
        #expect(answer.end == .closed)
        let whole = try await fixture.get(path)
        #expect(whole.status == 200 && whole["cache-status"] == "Weir; hit")
        if isOfKnownLength {
            #expect(answer.bytes == whole.body)
        }
    }

    @Test func aSilentOriginIsRequestedAgainWithoutReaders() async throws {
        let fixture = try await TestHouse(.playback { $0.playerTimeout = .milliseconds(100) })
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        try await fixture.origin.add(OriginRule("*.ts") { $0.hold = true })
        do {
            let connection = try await fixture.ask(path)
            #expect(try await connection.receiveHead().end == .satisfied)
        }
        // No reader waits any more.
        try await waitUntil("the client gone") { try await fixture.origin.load().paused == 0 }
        try await fixture.origin.clearRules()
        let bytes = try fixtureBytes("/ts/90p/0.ts")
        try await waitUntil("the segment") { try await fixture.get(path).body == bytes }
    }

    @Test(arguments: [(404, 404), (410, 410), (403, 502), (500, 502)])
    func aRefusedSegmentKeepsTheOriginsStatus(_ status: Int, _ expected: Int) async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        try await fixture.origin.add(OriginRule("*.ts") { $0.status = status })
        #expect(try await fixture.get(path).status == expected)
    }

    @Test func resumesAfterACutInTheSameResponse() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        try await fixture.origin.add(OriginRule("*.ts") { ($0.cutAfter, $0.times) = (5000, 1) })
        let answer = try await fixture.get(path)
        #expect(answer.isComplete)
        #expect(answer.body == (try fixtureBytes("/ts/90p/0.ts")))
    }

    @Test func anIncompleteBodyIsCutAndNotStored() async throws {
        let fixture = try await TestHouse(.playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        try await fixture.origin.add(
            OriginRule("*.ts") { ($0.cutAfter, $0.times) = (5000, 1) }, OriginRule("*.ts") { $0.resetAfter = -1 })
        let answer = try await fixture.get(path)
        #expect(answer.status == 200 && !answer.isComplete)
        #expect(answer.body == (try fixtureBytes("/ts/90p/0.ts")).prefix(5000))
        #expect(!fixture.folder.files().contains { $0.hasSuffix("/0.ts") })

        // The received part is kept: the next player's request fetches only the rest.
        try await fixture.origin.clearRules()
        try await fixture.origin.clearRequests()
        #expect(try await fixture.get(path).body == fixtureBytes("/ts/90p/0.ts"))
        #expect(try await fixture.origin.requests().map(\.range) == ["bytes=5000-"])
    }

    @Test func aFullDiskPassesSegmentsThrough() async throws {
        let fixture = try await TestHouse(.reserve(.max), .playback())
        let path = try await fixture.media(fixture.typed("/ts/master.m3u8"))[0]
        for _ in 0..<2 {
            #expect(try await fixture.get(path).body == fixtureBytes("/ts/90p/0.ts"))
        }
        #expect(!fixture.folder.files().contains { $0.hasSuffix(".ts") })
    }

    nonisolated static let statuses: [(LibraryError.Code, HTTPStatus)] = [
        (.missing, .notFound), (.notStored, .notFound), (.notPlaylist, .badGateway), (.badOrigin, .badGateway),
        (.originRefused, .badGateway), (.originAbsent, .gatewayTimeout), (.badDirective, .badRequest),
        (.refusedURL, .forbidden), (.store, .insufficientStorage), (.nameTaken, .conflict),
        (.cancelled, .serviceUnavailable),
    ]

    @Test(arguments: statuses)
    func eachErrorHasAStatus(_ code: LibraryError.Code, _ status: HTTPStatus) {
        #expect(LibraryError(code, "").status == status)
    }
}
