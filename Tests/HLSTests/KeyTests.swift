import Testing

@testable import HLS

@Suite("A key")
struct KeyTests {
    @Test("is in force until the next of its KEYFORMAT or NONE")
    func scope() throws {
        let playlist = try Fixtures.media(
            """
            #EXTM3U
            #EXTINF:1,
            clear
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://1",KEYFORMAT="com.example.drm"
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="k1"
            #EXTINF:1,
            both
            #EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT="identity",URI="k2"
            #EXTINF:1,
            #EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://2",KEYFORMAT="com.example.drm"
            rotated
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:1,
            clear
            #EXT-X-KEY:METHOD=AES-128,URI="k1"
            #EXTINF:1,
            again
            """)
        #expect(
            playlist.segments.map { $0.keys.map(\.uri) } == [
                [], ["skd://1", "k1"], ["skd://2", "k2"], [], ["k1"],
            ])
        #expect(playlist.keys.map(\.uri) == ["skd://1", "k1", "k2", "skd://2"])
        #expect(playlist.segments[4].keys.map(\.index) == [1])
        #expect(playlist.segments[4].keys.map(\.line) == [15])
    }

    @Test("is the same key for equal URIs with different IVs")
    func vectors() throws {
        var text = "#EXTM3U\n"
        for vector in 1...9 {
            text += "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x\(vector)\n#EXTINF:1,\n\(vector).ts\n"
        }
        let playlist = try Fixtures.media(text)
        #expect(playlist.keys.count == 1)
        #expect(playlist.segments[8].keys[0].initializationVector == [UInt8](repeating: 0, count: 15) + [9])
        #expect(playlist.segments[8].keys[0].index == 0)
    }

    /// Found by the fuzz target PlaylistMedia.
    @Test(
        "keeps the vector of its segments if others before them are cut, fetchable or not",
        arguments: ["URI=\"k\"", "URI=\"data:;base64,AA==\"", "KEYFORMAT=\"identity\""])
    func vectorsOfCutSegments(_ attributes: String) throws {
        let playlist = try Fixtures.media(
            """
            #EXTM3U
            #EXT-X-MEDIA-SEQUENCE:7
            #EXT-X-TARGETDURATION:1
            #EXT-X-KEY:METHOD=AES-128,\(attributes)
            #EXT-X-GAP
            #EXTINF:1,
            a.ts
            #EXTINF:1,
            b.ts
            #EXT-X-ENDLIST
            """)
        let stored = String(decoding: try playlist.rendered(.bundle) { _ in nil }, as: UTF8.self)
        #expect(stored.contains("IV=0x00000000000000000000000000000008"), "\(stored)")
    }

    @Test(
        "is fetchable if it is a plain file, and otherwise may need DRM",
        arguments: [
            ("METHOD=AES-128,URI=\"k\"", true, false),
            ("METHOD=SAMPLE-AES,URI=\"k\",KEYFORMAT=\"identity\"", true, false),
            ("METHOD=SAMPLE-AES-CTR,URI=\"k\"", true, false),
            ("METHOD=AES-256-GCM,URI=\"k\"", true, false),
            ("METHOD=AES-128,URI=\"data:;base64,AAECAwQFBgcICQoLDA0ODw==\"", true, false),
            ("METHOD=AES-128,URI=\"data:,%00bcdefghijklmnop\"", true, false),
            ("METHOD=AES-128,URI=\"data:;base64,AA==\"", false, false),
            ("METHOD=AES-128,URI=\"data:;base64\"", false, false),
            ("METHOD=AES-128,URI=\"DATA:;base64,AA==\"", false, false),
            ("METHOD=SAMPLE-AES,URI=\"skd://x\",KEYFORMAT=\"com.apple.streamingkeydelivery\"", false, true),
            ("METHOD=SAMPLE-AES,KEYFORMAT=\"com.widevine\"", false, true),
            ("METHOD=AES-256,URI=\"k?a:b\"", true, false), ("METHOD=AES-256-CTR,URI=\"HTTPS://h/k\"", true, false),
            ("METHOD=AES-256,URI=\"skd://k\"", false, true), ("METHOD=AES-256", false, true),
            ("METHOD=AES-128,URI=\"k\",KEYFORMAT=\"com.example\"", true, false),
            ("METHOD=AES-128,URI=\"skd://k\",KEYFORMAT=\"com.example\"", false, true),
            ("METHOD=AES-128,URI=\"k\",KEYFORMAT=\"com.microsoft.playready\"", false, true),
            ("METHOD=SAMPLE-AES,URI=\"k\",KEYFORMAT=\"com.example\"", false, true),
            ("METHOD=SAMPLE-AES-CENC,URI=\"k\",KEYFORMAT=\"urn:uuid:edef8ba9\"", false, true),
            ("METHOD=AES-128", false, true),
            ("METHOD=SAMPLE-AES-CTR,URI=\"data:;base64,AAAA\",KEYFORMAT=\"urn:uuid:edef8ba9\"", false, true),
            ("METHOD=SAMPLE-AES,URI=\"data:;base64,UAIA\",KEYFORMAT=\"com.microsoft.playready\"", false, true),
            ("METHOD=NONE", false, false),
        ])
    func kinds(_ attributes: String, _ isFetchable: Bool, _ needsDRM: Bool) throws {
        let text = try PlaylistText(Array("#EXTM3U\n#EXT-X-KEY:\(attributes)\n".utf8))
        let key = Key(text: text, record: try Key.parse(text, 1))
        #expect(key.isFetchable == isFetchable)
        #expect(key.needsDRM == needsDRM)
    }

    @Test("in a data: URI is decoded")
    func data() throws {
        let uris = [
            "data:text/plain;base64,AAECAwQFBgcICQoLDA0ODw==", "data:,%00%01%02%03%04%05%06%07%08%09%0a%0B%0c%0d%0e%0F",
        ]
        for uri in uris {
            let playlist = try Fixtures.media("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"\(uri)\"\n#EXTINF:1,\na\n")
            #expect(playlist.keys[0].data == Array(0..<16))
        }
    }

    @Test("that no segment needs asks for no DRM")
    func unused() throws {
        let odd = "#EXT-X-KEY:METHOD=ROT13,URI=\"skd://k\"\n"
        #expect(try !Fixtures.media("#EXTM3U\n#EXTINF:1,\na\n\(odd)").needsDRM)
        #expect(try Fixtures.media("#EXTM3U\n\(odd)#EXTINF:1,\na\n").needsDRM)
    }

    @Test("without a URI leaves the playlist and its other segments to be played")
    func withoutURI() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na\n#EXT-X-KEY:METHOD=AES-128\n#EXTINF:1,\nb\n"
        let playlist = try Fixtures.media(text)
        #expect(playlist.segments.map { $0.keys.count } == [0, 1] && playlist.needsDRM)
        #expect(try playlist.rendered { _ in nil } == Array(text.utf8))
        let found = PlaylistRules.diagnostics(of: Array(text.utf8))
        #expect(found.contains { $0.severity == .error && $0.code == "noKeyURI" && $0.line == 5 })
    }

    @Test("is rejected if too many KEYFORMATs are in force")
    func formats() throws {
        var text = "#EXTM3U\n"
        for format in 0...16 {
            text += "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\",KEYFORMAT=\"f\(format)\"\n"
        }
        let error = try #require(throws: PlaylistError.self) { try Fixtures.media(text + "#EXTINF:1,\na\n") }
        #expect(error.code == .overLimit)
        #expect(error.line == 18)
    }

    @Test(
        "is a file if KEYFORMAT is empty or in other letters, and no key if METHOD is NONE in other letters",
        arguments: [
            ("METHOD=AES-128,URI=\"k\",KEYFORMAT=\"IDENTITY\"", true),
            ("METHOD=AES-128,URI=\"k\",KEYFORMAT=\"\"", true),
            ("METHOD=none", false),
        ])
    func letters(_ attributes: String, _ isFetchable: Bool) throws {
        let playlist = try Fixtures.media("#EXTM3U\n#EXT-X-KEY:\(attributes)\n#EXTINF:1,\na\n")
        #expect(playlist.keys.contains(where: \.isFetchable) == isFetchable)
        #expect(!playlist.needsDRM)
    }

    @Test("needs no DRM if one of those in force is a file")
    func oneOfTwo() throws {
        let system = "#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://k\",KEYFORMAT=\"com.apple.streamingkeydelivery\"\n"
        let file = "#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n"
        #expect(try Fixtures.media("#EXTM3U\n\(system)#EXTINF:1,\na\n").needsDRM)
        #expect(try !Fixtures.media("#EXTM3U\n\(system)\(file)#EXTINF:1,\na\n").needsDRM)
        #expect(
            try Fixtures.media("#EXTM3U\n\(system)#EXTINF:1,\na\n#EXT-X-KEY:METHOD=NONE\n\(system)#EXTINF:1,\nb\n")
                .needsDRM)
    }
}
