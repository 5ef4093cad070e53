import Assets
import EventLoop
import Foundation
import HLS
import HTTPMessage
import TestRooms
import TestSupport
import Testing

@testable import Playback

/// Channel lists as players get them.
@Suite("Channel lists for players") @LoopActor struct PlayerChannelListTests {
    private func channel(_ name: String, _ url: String, _ attributes: [(String, String)] = []) throws -> KnownStream {
        var stream = try #require(KnownStream(name: name, title: name.uppercased(), url: try WebURL(url)))
        stream.list = "tv"
        stream.guideID = "\(name).tv"
        stream.attributes = attributes.compactMap { ChannelList.Attribute(name: $0.0, value: $0.1) }
        return stream
    }

    @Test func theListHasWhatTheGuideNeeds() async throws {
        let house = try await TestHouse(.playback())
        let channels = [
            try channel("one", house.origin.master("ts"), [("tvg-chno", "1"), ("catchup-source", "http://h/{utc}")]),
            try channel("two", house.origin.master("cmaf")),
        ]
        house.library.listed = ListedChannels(channels, guides: ["http://e/1.xml", "http://e/2.xml"])
        _ = try await house.get("/two.m3u8")
        let base = house.players.url("")
        let text = try await house.get("/weir.m3u").text
        #expect(
            text == """
                #EXTM3U url-tvg="http://e/1.xml,http://e/2.xml" x-tvg-url="http://e/1.xml,http://e/2.xml"
                #EXTINF:-1 tvg-id="one.tv" tvg-chno="1" catchup-source="\(base)/listed/http://h/{utc}",ONE
                \(base)/one.m3u8
                #EXTINF:-1 tvg-id="two.tv",TWO
                \(base)/two.m3u8

                """, "\(text)")
    }

    @Test func aChannelThatIsAnAssetOfAnotherNameHasBothNames() async throws {
        let house = try await TestHouse(.playback())
        let asset = try await house.open("/ts/master.m3u8")
        house.library.listed = ListedChannels([try channel("one", house.origin.master("ts"))])
        #expect(try await house.get("/one.m3u8").status == 200)
        #expect(try await house.get("/\(asset.name).m3u8").status == 200 && house.library.assets.count == 1)
        let entries = ChannelList(Array(try await house.get("/weir.m3u").body)).channels
        #expect(entries.map(\.id) == ["one.tv"])
    }

    @Test func aListAtAnOriginsURLLeadsThroughWeir() async throws {
        let house = try await TestHouse(.playback())
        let other = try await TestOrigin()
        let text = """
            #EXTM3U url-tvg="http://e/1.xml"\r
            #EXTINF:-1 tvg-id="one",One\r
            #EXTVLCOPT:http-user-agent=TV\r
            ts/master.m3u8|X=y\r
            #EXTINF:-1,Two\r
            \(other.master("ts"))\r
            #EXTINF:-1,Film\r
            /film.mp4\r
            #EXTINF:-1,Other\r
            rtmp://h/x\r\n
            """
        try await house.origin.add(OriginRule("/tv.m3u*") { ($0.status, $0.body) = (200, text) })
        let list = try await house.get(house.typed("/tv.m3u?token=1"))
        let base = house.players.url("")
        #expect(list.status == 200 && list["content-type"]?.hasPrefix("audio/x-mpegurl") ?? false, "\(list.text)")
        #expect(
            list.text == """
                #EXTM3U url-tvg="http://e/1.xml"
                #EXTINF:-1 tvg-id="one",One
                #EXTVLCOPT:http-user-agent=TV
                \(base)/\(house.origin.url("/ts/master.m3u8"))|X=y
                #EXTINF:-1,Two
                \(base)/listed/\(other.master("ts"))
                #EXTINF:-1,Film
                \(house.origin.url("/film.mp4"))
                #EXTINF:-1,Other
                rtmp://h/x

                """, "\(list.text)")
        #expect(house.library.assets.isEmpty)
        #expect(try await house.get(house.typed("/ts/master.m3u8")).status == 200)
        #expect(try await house.get("/listed/" + other.master("ts")).status != 200)
        #expect(try await other.requests().isEmpty)
    }

    @Test func aQueryForAnEarlierBroadcastReachesTheOrigin() async throws {
        let house = try await TestHouse(.playback())
        let channels = [
            try channel("one", house.origin.master("ts") + "?t=1", [("catchup", "append")]),
            try channel("two", house.origin.master("cmaf")),
        ]
        house.library.listed = ListedChannels(
            channels.map { channel in
                var channel = channel
                channel.namesHost = true
                return channel
            })
        #expect(try await house.get("/one.m3u8?utc=5").status == 200)
        #expect(try await house.get("/two.m3u8?utc=5").status == 200)
        let paths = try await house.origin.requests().map(\.path)
        #expect(paths.contains("/ts/master.m3u8?t=1&utc=5") && paths.contains("/cmaf/master.m3u8"), "\(paths)")
    }
}
