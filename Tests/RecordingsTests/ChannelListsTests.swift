import Assets
import EventLoop
import Foundation
import HLS
import HTTPMessage
import Origin
import Synchronization
import TestRooms
import TestSupport
import Testing

@testable import Recordings

/// The files of lists in memory.
private final class MemoryStore: ListStore {
    private let texts = Mutex<[String: [UInt8]]>([:])
    /// The lists whose reading takes long: until the semaphore is signalled.
    let slow = Mutex<[String: DispatchSemaphore]>([:])

    func read(_ list: String) -> [UInt8]? {
        slow.withLock { $0[list] }?.wait()
        return texts.withLock { $0[list] }
    }

    func remove(_ list: String) { texts.withLock { $0[list] = nil } }

    func write(_ list: String, _ text: [UInt8]) -> String? {
        texts.withLock { $0[list] = text }
        return nil
    }
}

/// A list of the origin's, on a clock that the test moves.
@LoopActor private final class ListScene {
    let clock = TestClock(isRunning: true)
    let house: TestHouse
    let store = MemoryStore()
    let list: KnownList
    private(set) var lists: ChannelLists

    init(query: String = "") async throws {
        house = try await TestHouse(.clock(clock), .downloader(), .playback())
        list = try KnownList(name: "tv", address: house.origin.url("/tv.m3u") + query, lines: [], interval: 3_600)
        lists = ChannelLists(house.library, store: store)
    }

    /// Serves a text as the list.
    func give(_ text: String, status: Int = 200) async throws {
        try await house.origin.replaceRules(with: OriginRule("/tv.m3u*") { ($0.status, $0.body) = (status, text) })
    }

    func read() async throws -> ChannelLists.Summary {
        await lists.set([list])
        await lists.refresh("tv")
        return try #require(lists.summary(of: "tv"))
    }

    /// A new process with the same files.
    func restart() async throws {
        try await stop()
        await lists.set([list])
    }

    /// A new process that has not read the lists yet.
    func stop() async throws {
        lists.stop()
        try await house.restart()
        lists = ChannelLists(house.library, store: store)
    }

    func get(_ path: String) async throws -> HTTPAnswer { try await HTTPProbe.fetch(house.players.url(path)) }

    /// Each channel as `name id url`.
    var channels: [String] {
        house.library.listed.channels.map { "\($0.name) \($0.guideID ?? "–") \($0.url.path)\($0.url.query ?? "")" }
    }
}

@Suite @LoopActor struct ChannelListsTests {
    private static let two = """
        #EXTM3U url-tvg="http://e.example/guide.xml"
        #EXTINF:-1 tvg-id="one.tv" tvg-chno="1" group-title="News",One
        /ts/master.m3u8?t=1
        #EXTINF:-1 tvg-id="two.tv",Two
        /cmaf/master.m3u8
        #EXTINF:-1,A film
        /film.mp4
        """

    @Test func itsChannelsAreKnownByNameWithoutAnAsset() async throws {
        let scene = try await ListScene()
        try await scene.give(Self.two)
        let summary = try await scene.read()
        #expect(summary.channels == 2 && summary.leftOut == 1 && summary.problem == nil)
        #expect(scene.channels == ["one one.tv /ts/master.m3u8t=1", "two two.tv /cmaf/master.m3u8"])
        #expect(scene.house.library.assets.isEmpty)
        #expect(scene.house.library.listed.guides == ["http://e.example/guide.xml"])
        let stream = try #require(scene.house.library.stream(named: "one"))
        #expect(stream.attributes.map(\.name) == ["tvg-chno"] && stream.group == "News")
        // One that is played has an asset of its name.
        _ = try await scene.get("/one.m3u8")
        #expect(scene.house.library.assets.map(\.name) == ["one"])
    }

    @Test func aNewTokenMovesTheAssetAndANewTitleKeepsTheName() async throws {
        let scene = try await ListScene()
        try await scene.give(Self.two)
        _ = try await scene.read()
        _ = try await scene.get("/one.m3u8")
        let asset = try #require(scene.house.library.asset(named: "one"))
        try await scene.give(
            Self.two.replacing("?t=1", with: "?t=2").replacing(",Two", with: ",Two HD").replacing(
                "/cmaf/", with: "/aes/"))
        _ = try await scene.read()
        #expect(scene.channels == ["one one.tv /ts/master.m3u8t=2", "two two.tv /aes/master.m3u8"])
        #expect(asset.origin.query == "t=2" && scene.house.library.asset(at: asset.origin) === asset)
        #expect(try await scene.get("/one.m3u8").status == 200)
        #expect(scene.house.library.assets.count == 1)
    }

    @Test func theFieldsOfARelativeURLSurviveARestart() async throws {
        let scene = try await ListScene()
        try await scene.give("#EXTM3U\n#EXTINF:-1,One\n#EXTVLCOPT:http-user-agent=TV/1\n/ts/master.m3u8")
        _ = try await scene.read()
        for isRestarted in [false, true] {
            if isRestarted {
                try await scene.restart()
            }
            let stream = try #require(scene.house.library.stream(named: "one"))
            #expect(stream.url.path == "/ts/master.m3u8" && stream.fields?.texts == ["User-Agent: TV/1"])
        }
    }

    @Test(arguments: [(404, ""), (200, "<html>"), (200, "#EXTM3U\n"), (200, "#EXTM3U\n#EXT-X-TARGETDURATION:1\n")])
    func aListThatCannotBeReadStaysAsItWas(status: Int, text: String) async throws {
        let scene = try await ListScene()
        try await scene.give(Self.two)
        _ = try await scene.read()
        let known = scene.channels
        try await scene.give(text, status: status)
        #expect(try await scene.read().problem != nil && scene.channels == known)
        try await scene.restart()
        #expect(scene.channels == known && scene.house.library.listed.guides.count == 1)
        try await scene.give(Self.two)
        #expect(try await scene.read().problem == nil)
    }

    @Test("a channel list is read again at its time") func itIsReadAgainAtItsTime() async throws {
        let scene = try await ListScene()
        try await scene.give(Self.two)
        _ = try await scene.read()
        let count = { try await scene.house.origin.requests(for: "/tv.m3u").count }
        scene.lists.look()
        #expect(try await count() == 1)
        scene.clock.advance(by: 3_601)
        scene.lists.look()
        try await waitUntil("the list is read again") { try await count() == 2 }
    }

    /// Whoever writes the list chooses where a channel moves to.
    @Test func fieldsThatWereGivenForAnOriginStayThereWhenTheChannelMoves() async throws {
        let scene = try await ListScene()
        try await scene.give(Self.two)
        _ = try await scene.read()
        _ = try await scene.get("/one.m3u8")
        let asset = try #require(scene.house.library.asset(named: "one"))
        try await scene.house.library.setFields(try UserFields(["X-Key: s3cret", "Cookie: a=s3cret"]), of: asset)
        let other = try await TestOrigin()
        var route = OriginRoute()
        route.certificate = "/mine.pem"
        try await scene.house.library.setRoute(route, of: asset)

        try await scene.give(Self.two.replacing("?t=1", with: "?t=2"))
        _ = try await scene.read()
        #expect(asset.fields.lines.count == 2 && asset.route.certificate == "/mine.pem")
        let moved = Self.two.replacing("/ts/master.m3u8?t=1", with: other.master("ts"))
        try await scene.give(moved)
        _ = try await scene.read()
        #expect(asset.fields.isEmpty && asset.route.certificate == nil)
        // The user has not named this private host.
        #expect(try await scene.get("/one.m3u8").status != 200)
        #expect(try await other.requests().isEmpty)
        route = OriginRoute()
        route.allowedHosts = [try AllowedHost("127.0.0.1:\(other.port)")]
        try await scene.house.library.setRoute(route, of: asset)
        #expect(try await scene.get("/one.m3u8").status == 200)
        let requests = try await other.requests()
        #expect(!requests.isEmpty && requests.allSatisfy { $0.headers["x-key"] == nil && $0.headers["cookie"] == nil })

        // Those of the list are for its own URL.
        try await scene.give(moved.replacing("master.m3u8\n", with: "master.m3u8?t=3|X-Key=list\n"))
        _ = try await scene.read()
        #expect(asset.origin.query == "t=3" && asset.fields.texts == ["X-Key: list"])
    }

    /// The header fields of the list, and then of the user, the two fields and the host of the next list, and what is sent then.
    nonisolated struct FieldCase: Sendable, CustomTestStringConvertible {
        let rule: String
        var listed = ""
        var given: [String] = []
        var next = ""
        var host = ""
        let expected: [String]

        var testDescription: String { rule }
    }

    nonisolated static let fieldCases = [
        FieldCase(
            rule: "the list's own go along", listed: "|X-Key=1", next: "|X-Key=2", host: "h.example",
            expected: ["X-Key: 2"]),
        FieldCase(
            rule: "the list has new ones for the same URL", listed: "|X-Key=1", next: "|X-Key=2",
            expected: ["X-Key: 2"]),
        FieldCase(rule: "the list has none any more", listed: "|X-Key=1", host: "h.example", expected: []),
        FieldCase(rule: "the user's stay with the host", given: ["Cookie: mine"], host: "h.example", expected: []),
        FieldCase(
            rule: "the user's are not the list's", given: ["Cookie: mine"], next: "|X-Key=2", host: "h.example",
            expected: ["X-Key: 2"]),
        FieldCase(
            rule: "of one host, the user's replace the list's", listed: "|X-Key=1", given: ["Cookie: mine"],
            next: "|X-Key=2", expected: ["Cookie: mine"]),
    ]

    @Test(arguments: fieldCases) func aListsFieldsGoAlongAndTheUsersStay(_ example: FieldCase) async throws {
        let scene = try await ListScene()
        let entry = "#EXTM3U\n#EXTINF:-1,One\n"
        let own = scene.house.origin.master("ts")
        try await scene.give(entry + own + example.listed)
        _ = try await scene.read()
        _ = try await scene.get("/one.m3u8")
        let asset = try #require(scene.house.library.asset(named: "one"))
        if !example.given.isEmpty {
            try await scene.house.library.setFields(try UserFields(example.given), of: asset)
        }
        var next = own
        if !example.host.isEmpty {
            next = "http://\(example.host)/ts/master.m3u8"
        }
        try await scene.give(entry + next + example.next)
        _ = try await scene.read()
        #expect(asset.fields.texts == example.expected)
        #expect(example.host.isEmpty || asset.origin.host == example.host)
    }

    @Test func whatTheUserGaveForAnotherHostIsNamedInTheLog() async throws {
        let scene = try await ListScene()
        try await scene.give(Self.two)
        _ = try await scene.read()
        _ = try await scene.get("/one.m3u8")
        let asset = try #require(scene.house.library.asset(named: "one"))
        try await scene.house.library.setFields(try UserFields(["Cookie: a=s3cret"]), of: asset)
        var route = OriginRoute()
        route.isInsecure = true
        route.proxy = try ProxyChoice("http://proxy.example:3128")
        route.allowedHosts = [try AllowedHost("10.0.0.0/8")]
        try await scene.house.library.setRoute(route, of: asset)
        await scene.house.library.records.saveNew(asset)
        try await scene.give(Self.two.replacing("/ts/master.m3u8?t=1", with: "https://h.example/one.m3u8"))
        _ = try await scene.read()
        #expect(asset.route.description == "proxy http://proxy.example:3128")
        let origin = scene.house.origin.url("")
        let sentence = scene.house.log.lines.last
        #expect(
            sentence == "one: its channel list has moved it to https://h.example, where what you gave for \(origin) "
                + "does not apply (header fields Cookie; certificates are not verified; allowed hosts 10.0.0.0/8): "
                + "give it again if you trust the new address")
        try await scene.restart()
        let known = try #require(scene.house.library.asset(named: "one"))
        #expect(known.route.description == "proxy http://proxy.example:3128" && known.fields.isEmpty)
    }

    // MARK: The start

    /// 100,000 channels take seconds.
    @Test func aListThatIsBeingReadKeepsNobodyElseWaiting() async throws {
        let scene = try await ListScene()
        try await scene.give(Self.two)
        let other = try KnownList(name: "other", address: scene.house.origin.url("/other.m3u"), lines: [])
        let late = "#EXTM3U\n#EXTINF:-1,Late\n/aes/master.m3u8\n"
        try await scene.house.origin.add(OriginRule("/other.m3u") { ($0.status, $0.body) = (200, late) })
        await scene.lists.set([scene.list, other])
        for name in ["tv", "other"] {
            await scene.lists.refresh(name)
        }
        #expect(scene.channels.count == 3)
        _ = try await scene.get("/one.m3u8")
        try await scene.stop()
        let gate = DispatchSemaphore(value: 0)
        scene.store.slow.withLock { $0["other"] = gate }

        scene.lists.start([scene.list, other])
        // An asset, and a channel of the list that is read.
        #expect(try await scene.get("/one.m3u8").status == 200)
        #expect(try await scene.get("/two.m3u8").status == 200)
        #expect(scene.house.library.listedReading.isInProgress)
        #expect(scene.lists.summaries.map(\.isReading) == [false, true])
        async let channel = scene.get("/late.m3u8")
        async let unknown = scene.get("/three.m3u8")
        async let list = scene.get("/weir.m3u")
        gate.signal()
        #expect(try await channel.status == 200)
        #expect(try await unknown.status == 404)
        #expect(try await list.text.contains("/late.m3u8"))
        try await waitUntil("all are read") { scene.lists.summaries.allSatisfy { !$0.isReading } }
    }

    @Test func aChannelThatIsHiddenWhileTheListIsReadStaysHidden() async throws {
        let scene = try await ListScene()
        let entries = (1...4_000).map { "#EXTINF:-1 tvg-id=\"c\($0)\",C\($0)\nhttp://h.example/\($0).m3u8\n" }
        try await scene.give("#EXTM3U\n" + entries.joined())
        _ = try await scene.read()
        var isRead = false
        let reading = Task { @LoopActor in
            await scene.lists.refresh("tv")
            isRead = true
        }
        var hidden = 0
        repeat {
            hidden += 1
            #expect(try await scene.lists.hide("c\(hidden)"))
        } while !isRead
        await reading.value
        #expect(scene.lists.summary(of: "tv")?.hidden == hidden)
        #expect(scene.channels.count == 4_000 - hidden)
        try await scene.restart()
        #expect(scene.channels.count == 4_000 - hidden)
    }

    @Test func twoChannelsThatAreHiddenAtATimeAreBothHidden() async throws {
        let scene = try await ListScene()
        try await scene.give(Self.two)
        _ = try await scene.read()
        async let one = scene.lists.hide("one")
        async let two = scene.lists.hide("two")
        let results = try await [one, two]
        #expect(results == [true, true] && scene.channels.isEmpty)
    }

    @Test func listsThatAreReadAtATimeHaveDifferentNames() async throws {
        let scene = try await ListScene()
        try await scene.give(Self.two)
        let address = scene.list.address
        let names = ["tv", "tv-2", "tv-3"]
        await scene.lists.set(try names.map { try KnownList(name: $0, address: "\(address)?\($0)", lines: []) })
        for name in names {
            Task { @LoopActor in await scene.lists.refresh(name) }
        }
        try await waitUntil("all channels") { scene.channels.count == 6 }
        let known = scene.house.library.listed.channels.map(\.name)
        #expect(known == ["one", "one-2", "one-3", "two", "two-2", "two-3"])
    }

    @Test func aHiddenChannelStaysHidden() async throws {
        let scene = try await ListScene()
        try await scene.give(Self.two)
        _ = try await scene.read()
        #expect(try await scene.lists.hide("one") && scene.channels.count == 1)
        #expect(try await !scene.lists.hide("one"))
        try await scene.restart()
        #expect(scene.channels.count == 1)
        let summary = try await scene.read()
        #expect(summary.channels == 1 && summary.hidden == 1)
    }

    /// The origin of these tests is at a loopback address, which is private.
    @Test func aPrivateAddressIsAskedOnlyOnTheListsOwnHost() async throws {
        let scene = try await ListScene()
        let other = try await TestOrigin()
        let foreign = other.master("ts").replacing("127.0.0.1", with: "localhost")
        try await scene.give(
            """
            #EXTM3U
            #EXTINF:-1,Own
            \(scene.house.origin.master("ts"))
            #EXTINF:-1,Port
            \(other.master("ts"))
            #EXTINF:-1,Name
            \(foreign)
            """)
        _ = try await scene.read()
        #expect(try await scene.get("/own.m3u8").status == 200)
        for name in ["port", "name"] {
            #expect(try await scene.get("/\(name).m3u8").status != 200, "\(name)")
        }
        #expect(try await other.requests().isEmpty)
    }

    @Test func passwordsStayInTheFile() async throws {
        let scene = try await ListScene(query: "?username=hannah&password=s3cret-word")
        try await scene.give(
            """
            #EXTM3U url-tvg="http://e.example/xmltv.php?username=hannah&password=s3cret-word,http://e.example/free.xml"
            #EXTINF:-1 catchup="default" catchup-source="http://h.example/hannah/s3cret-word/{utc}" tvg-chno="1",One
            /live/hannah/s3cret-word/1.m3u8
            """)
        let summary = try await scene.read()
        #expect(!summary.list.url.redacted.contains("s3cret"))
        let stream = try #require(scene.house.library.stream(named: "one"))
        #expect(stream.attributes.map(\.name) == ["catchup", "tvg-chno"])
        #expect(!stream.url.redacted.contains("s3cret") && stream.url.redacted.hasSuffix("/live/…/…/1.m3u8"))
        #expect(scene.house.library.listed.guides == ["http://e.example/free.xml"])
        let list = try await scene.get("/weir.m3u")
        #expect(list.status == 200 && !list.text.contains("s3cret") && list.text.contains("tvg-chno=\"1\""))
    }

    @Test func aLongListBlocksNothing() async throws {
        let scene = try await ListScene()
        let entries = (0..<20_000).map { "#EXTINF:-1 tvg-id=\"c\($0)\",Channel\nhttp://h.example/\($0).m3u8\n" }
        try await scene.give("#EXTM3U\n" + entries.joined())
        #expect(try await scene.read().channels == 20_000)
        #expect(Set(scene.house.library.listed.channels.map(\.name)).count == 20_000)
        #expect(scene.house.library.stream(named: "channel-20000")?.guideID == "c19999")
        let text = try await scene.get("/weir.m3u").text
        #expect(text.split(separator: "\n").count == 40_001)
    }
}
