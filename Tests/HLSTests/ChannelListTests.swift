import Testing

@testable import HLS

@Suite("A channel list")
struct ChannelListTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        /// Each channel as `title|id|logo|group|fields|url`.
        let channels: [String]
    }

    static let cases = [
        Case(testDescription: "is empty", text: "#EXTM3U\n", channels: []),
        Case(
            testDescription: "has plain URLs", text: "http://a/1.m3u8\r\n\r\nhttp://a/2.m3u8",
            channels: ["|||||http://a/1.m3u8", "|||||http://a/2.m3u8"]),
        Case(
            testDescription: "has attributes with commas in quotation marks",
            text: #"""
                #EXTM3U x-tvg-url="http://e/epg"
                #EXTINF:-1 tvg-id="one.tv" tvg-name="One HD" tvg-logo="http://l/1.png" group-title="News, world",One, the channel
                http://a/1.m3u8
                """#, channels: ["One, the channel|one.tv|http://l/1.png|News, world||http://a/1.m3u8"]),
        Case(
            testDescription: "has a name for a missing title, and attributes without quotation marks",
            text: "#EXTINF:-1 tvg-name=\"Zwei\" group-title=Kino,\nhttp://a/2",
            channels: ["Zwei|||Kino||http://a/2"]),
        Case(
            testDescription: "is a PLS file",
            text: "[playlist]\r\nNumberOfEntries=2\r\nFile2=http://a/2\r\nTitle2=Two\r\nfile1=http://a/1\r\n"
                + "Title1=One\r\nLength1=-1\r\n",
            channels: ["One|||||http://a/1", "Two|||||http://a/2"]),
        Case(
            testDescription: "has VLC's options",
            text: """
                #EXTINF:0,Drei
                #EXTVLCOPT:http-user-agent=TV/1 (X; Y)
                #EXTVLCOPT:http-referrer=https://site.example/
                #EXTVLCOPT:network-caching=1000
                http://a/3
                """, channels: ["Drei||||User-Agent: TV/1 (X; Y);Referer: https://site.example/|http://a/3"]),
        Case(
            testDescription: "has Kodi's properties and fields behind the URL",
            text: """
                #EXTINF:-1,Vier
                #KODIPROP:inputstream.adaptive.stream_headers=User-Agent=TV%2F1&X-Key=a%3Db
                http://a/4?b=c|Referer=http%3A%2F%2Fr%2F&User-Agent=late
                """, channels: ["Vier||||User-Agent: TV/1;X-Key: a=b;Referer: http://r/|http://a/4?b=c"]),
        Case(
            testDescription: "has groups on lines of their own", text: "#EXTINF:10.5,A\n#EXTGRP:Sport\nhttp://a/5",
            channels: ["A|||Sport||http://a/5"]),
        Case(
            testDescription: "has nothing of one channel at the next",
            text: "#EXTINF:-1 group-title=\"G\",A\n#EXTVLCOPT:http-user-agent=U\nhttp://a/1\nhttp://a/2",
            channels: ["A|||G|User-Agent: U|http://a/1", "|||||http://a/2"]),
        Case(
            testDescription: "has an attribute that does not end", text: "#EXTINF:-1 tvg-logo=\"x,A\nhttp://a/1",
            channels: ["A||\"x|||http://a/1"]),
        Case(
            testDescription: "cannot inject fields",
            text: "#EXTINF:-1,A\nhttp://a/1|X=a%0D%0AY:b&%20Z=1&Q=&W=w", channels: ["A||||W: w|http://a/1"]),
        Case(
            testDescription: "has fields of a relative URL", text: "#EXTINF:-1,A\n/1?b|X=1",
            channels: ["A||||X: 1|/1?b"]),
        Case(
            testDescription: "has a bar of another scheme", text: "#EXTINF:-1,A\nplug://a|X=1",
            channels: ["A|||||plug://a|X=1"]),
    ]

    @Test("is read", arguments: cases)
    func reads(example: Case) {
        let found = ChannelList(Array(example.text.utf8)).channels.map { channel in
            [
                channel.title, channel.id, channel.logo, channel.group, channel.fields.joined(separator: ";"),
                channel.url,
            ]
            .map { $0 ?? "" }.joined(separator: "|")
        }
        #expect(found == example.channels)
    }

    @Test func eachLineIsCleanedByItself() {
        let text = "#EXTM3U\r#EXTINF:-1,\u{FEFF} A\tB \r\nhttp://a/1\n\r\n\u{FEFF}#EXTINF:-1,\u{E9}\u{7}C\nhttp://a/2  "
        let list = ChannelList(Array(text.utf8))
        #expect(list.channels.map(\.title) == ["A B", "\u{E9} C"])
        #expect(list.channels.map(\.url) == ["http://a/1", "http://a/2"])
    }

    @Test("may be in ISO 8859-1, with a mark, or of another system")
    func encodings() {
        let latin = Array("#EXTM3U\n#EXTINF:-1,".utf8) + [0xC4] + Array("rzte\r".utf8) + Array("http://a/1\r".utf8)
        let list = ChannelList(latin).channels
        #expect(list.map(\.title) == ["Ärzte"] && list.map(\.url) == ["http://a/1"] && list.map(\.line) == [3])
        let marked = [0xEF, 0xBB, 0xBF] + Array("#extm3u\n#extinf:-1,Ü\nhttp://a/1".utf8)
        #expect(ChannelList.isMeant(by: marked) && ChannelList(marked).channels.first?.title == "Ü")
        let dash = "#KODIPROP:inputstream.adaptive.manifest_type=mpd\nhttp://a/1"
        #expect(ChannelList(Array(dash.utf8)).channels.map(\.isDASH) == [true])
    }

    @Test("is no HLS playlist, and no list of URLs")
    func kinds() {
        let media = Array("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\na.ts\n".utf8)
        #expect(ChannelList.isMeant(by: media) && ChannelList.isHLS(media))
        let list = Array("#EXTM3U\n#EXT-X-APP: x\n#EXTINF:-1,A\nhttp://a/1\n".utf8)
        #expect(ChannelList.isMeant(by: list) && !ChannelList.isHLS(list))
        #expect(!ChannelList.isMeant(by: Array("# mine\nhttp://a/1\n".utf8)) && !ChannelList.isMeant(by: []))
        // A tag ends at a colon, a blank or the end of its line. What only begins like one is another line, for both questions.
        let beginning = Array("#EXTM3U\n#EXT-X-STREAM-INF>BANDWIDTH=800000\nv.m3u8\n".utf8)
        #expect(!ChannelList.isHLS(beginning) && ChannelList.isList(beginning))
    }

    @Test("keeps the attributes of the list and of each channel")
    func attributes() {
        let text = #"""
            #EXTM3U url-tvg="http://e/1.xml,http://e/2.xml" tvg-shift=1
            #EXTINF:-1 tvg-id="a" tvg-name="A HD" tvg-chno="5" catchup="append" catchup-source="?utc={utc}" catchup-days=7,A
            http://a/1
            """#
        let list = ChannelList(Array(text.utf8))
        #expect(list.attributes.map(\.name) == ["url-tvg", "tvg-shift"])
        #expect(list.attributes.first?.value == "http://e/1.xml,http://e/2.xml")
        #expect(
            list.channels[0].attributes.map { "\($0.name)=\($0.value)" } == [
                "tvg-name=A HD", "tvg-chno=5", "catchup=append", "catchup-source=?utc={utc}", "catchup-days=7",
            ])
        #expect(ChannelList(Array(list.text.utf8)).text == list.text && list.text.contains("tvg-chno=\"5\""))
        let secret = ChannelList(Array("#EXTM3U\n#EXTINF:-1,A\nhttp://a/1|X-Key=a%3Db%26&User-Agent=TV".utf8))
        #expect(!secret.text.contains("X-Key"))
        let again = ChannelList(Array(secret.text(withFields: true).utf8))
        #expect(
            again.channels.map(\.fields) == [["X-Key: a=b&", "User-Agent: TV"]] && again.channels[0].url == "http://a/1"
        )
    }

    static let texts: [(String, Bool)] = [
        ("#EXTM3U\n#EXTINF:-1,A\nhttp://a/1\n", true), ("#EXTM3U\n#EXTINF:0,A\nhttp://a/1.ts\n", true),
        ("#EXTM3U\nhttp://a/1.m3u8?b=c\n", true), ("#EXTM3U url-tvg=\"x\"\n#EXTINF:10,A\na.ts\n", true),
        ("#EXTM3U\n#EXTINF:10 tvg-id=\"a\",A\na.ts\n", true), ("#EXTM3U\r\n#EXTGRP:News\r\na.ts\r\n", true),
        ("#EXTM3U\n#EXT-X-APP: x\n#EXTINF:-1,A\nhttp://a/1\n", true), ("#EXTINF:-1,A\nhttp://a/1\n", true),
        ("#EXTM3U\n#EXTINF:2,\na.ts\n", false), ("#EXTM3U\n#EXTINF:2,a=b\na.ts\n", false), ("#EXTM3U\n", false),
        ("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:-1,A\na.ts\n", false), ("http://a/1.m3u8\n", false),
        ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\na.m3u8\n", false), ("#EXTM3U\n#EXTINF:-1,A\n", false),
        ("#EXTM3U\n#EXTINF:2,\na.ts\n#EXT-X-ENDLIST\n#EXTINF:-1,\nb\n", false),
    ]

    @Test("is told from an HLS playlist", arguments: texts)
    func isList(text: String, isList: Bool) { #expect(ChannelList.isList(Array(text.utf8)) == isList) }

    @Test("has other URLs, and all other lines stay")
    func replacing() {
        let text = "#EXTM3U x=\"1\"\r\n#EXTINF:-1,A\r\n#EXTVLCOPT:a=b\r\nhttp://a/1?b=c|X=y\r\n\r\n#odd\r\nb.m3u8"
        let replaced = ChannelList.replacingURLs(in: Array(text.utf8)) { "<\($0)>" }
        #expect(
            String(decoding: replaced, as: UTF8.self)
                == "#EXTM3U x=\"1\"\n#EXTINF:-1,A\n#EXTVLCOPT:a=b\n<http://a/1?b=c>|X=y\n#odd\n<b.m3u8>\n")
    }

    @Test("is written so that it reads as the same")
    func writes() {
        var one = ChannelList.Channel(url: "http://h/one.m3u8")
        one.title = "One, \"1\""
        one.id = "one"
        one.logo = "http://l/1.png"
        one.group = "A \"b\""
        var two = ChannelList.Channel(url: "http://h/two.m3u8")
        two.title = "Two\nlines"
        two.duration = 888.1
        let text = ChannelList([one, two]).text
        #expect(
            text == """
                #EXTM3U
                #EXTINF:-1 tvg-id="one" tvg-logo="http://l/1.png" group-title="A 'b'",One, "1"
                http://h/one.m3u8
                #EXTINF:888.1,Two lines
                http://h/two.m3u8

                """)
        #expect(ChannelList(ChannelList(Array(text.utf8)).channels).text == text)
    }
}
