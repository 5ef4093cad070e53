import EventLoop
import Fetching
import HLS
import HTTPMessage
import Origin
import Store
import TestSupport
import Testing

@testable import Assets
@testable import Playback

/// An asset with given playlist texts. Nothing is fetched.
@LoopActor struct ViewedAsset {
    let folder: TemporaryFolder
    let store: BundleStore
    let asset: Asset
    let library: Library
    let view: PlayerView

    init() throws {
        folder = try TemporaryFolder()
        store = try BundleStore(path: folder.path)
        let origin = try WebURL("http://origin/film/master.m3u8?token=secret")
        asset = Asset(id: "film-k3f9", name: "film", title: nil, origin: origin, created: 1, store: store)
        library = Library(store: store, client: OriginClient())
        view = PlayerView(library: library, asset: asset, session: try #require(Session(id: "aabcde")))
    }

    func multivariant(_ lines: String) throws {
        guard case .multivariant(let playlist) = try parse(lines) else { throw TimedOut("a multivariant playlist") }
        asset.adopt(playlist, base: asset.origin)
    }

    func media(_ id: String, _ lines: String) throws {
        guard case .media(let playlist) = try parse(lines) else { throw TimedOut("a media playlist") }
        let base = try WebURL("http://origin/film/\(id)/media.m3u8?token=secret")
        try #require(asset.rendition(id)).adopt(Rendition.Source(playlist: playlist, base: base))
    }

    func lone(_ lines: String) throws {
        guard case .media(let playlist) = try parse(lines) else { throw TimedOut("a media playlist") }
        asset.adopt(Rendition.Source(playlist: playlist, base: asset.origin))
    }

    private func parse(_ lines: String) throws -> Playlist { try .parse(Array("#EXTM3U\n\(lines)\n".utf8)) }

    func put(_ path: String) throws {
        let parts = path.split(separator: "/").map(String.init)
        try store.bundle(asset.id, create: true).subdirectory(parts[0], create: true).write([1], as: parts[1])
        for folder in asset.folders {
            folder.reread()
        }
    }

    func entry(isStored: Bool) async throws -> String? {
        let listed = isStored ? view.asset.content.completeRenditions : nil
        return try await view.draft(stored: listed).flatMap { try text(of: $0) }
    }

    func media(_ id: String, _ view: PlayerView? = nil) async throws -> String {
        let rendition = try #require(asset.rendition(id))
        let draft = await (view ?? self.view).draft(rendition, try #require(rendition.source))
        return try #require(try text(of: draft))
    }

    /// The text that the session's player gets.
    func text(of draft: PlaylistDraft) throws -> String? {
        guard let marked = try draft.text() else { return nil }
        let path = view.session.path(in: asset, behind: "")
        return String(decoding: marked, as: UTF8.self).replacing(SessionPath.mark, with: path)
    }
}

@Suite @LoopActor struct PlayerViewTests {
    private static let master = """
        #EXT-X-SESSION-DATA:DATA-ID="title",VALUE="Film"
        #EXT-X-SESSION-DATA:DATA-ID="art",URI="art.json"
        #EXT-X-SESSION-KEY:METHOD=AES-128,URI="../keys/1"
        #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="en.m3u8?token=secret"
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",URI="http://cdn/de.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=1280x720,AUDIO="a"
        720.m3u8?token=secret
        #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360,AUDIO="a"
        360.m3u8?token=secret
        #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,RESOLUTION=640x360,URI="trick.m3u8"
        """

    @Test func everyRenditionHasALocalName() async throws {
        let viewed = try ViewedAsset()
        try viewed.multivariant(Self.master)
        #expect(
            try await viewed.entry(isStored: false) == """
                #EXTM3U
                #EXT-X-VERSION:5
                #EXT-X-SESSION-DATA:DATA-ID="title",VALUE="Film"
                #EXT-X-SESSION-DATA:DATA-ID="art",URI="/a/film-k3f9/aabcde/data/data-7785879499668640022.json"
                #EXT-X-SESSION-KEY:METHOD=AES-128,URI="/a/film-k3f9/aabcde/keys/0.key"
                #EXT-X-SESSION-KEY:METHOD=SAMPLE-AES,URI="skd://x",KEYFORMAT="com.apple.streamingkeydelivery"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,\
                URI="/a/film-k3f9/aabcde/audio-en/media.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",\
                URI="/a/film-k3f9/aabcde/audio-de/media.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=1280x720,AUDIO="a"
                /a/film-k3f9/aabcde/video-720p/media.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360,AUDIO="a"
                /a/film-k3f9/aabcde/video-360p/media.m3u8
                #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=100000,RESOLUTION=640x360,\
                URI="/a/film-k3f9/aabcde/iframes-360p/media.m3u8"

                """)
    }

    @Test func onlyStoredContentIsListed() async throws {
        let viewed = try ViewedAsset()
        try viewed.multivariant(Self.master)
        #expect(try await viewed.entry(isStored: true) == nil)
        let one = "#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n0.ts\n#EXT-X-ENDLIST"
        for id in ["video-360p", "audio-de"] {
            try viewed.media(id, one)
            #expect(try await viewed.entry(isStored: true) == nil)
            try viewed.put("\(id)/0.ts")
        }
        #expect(
            try await viewed.entry(isStored: true) == """
                #EXTM3U
                #EXT-X-SESSION-DATA:DATA-ID="title",VALUE="Film"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Deutsch",LANGUAGE="de",\
                URI="/a/film-k3f9/aabcde/audio-de/media.m3u8",DEFAULT=YES,AUTOSELECT=YES
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,RESOLUTION=640x360,AUDIO="a"
                /a/film-k3f9/aabcde/video-360p/media.m3u8

                """)
        try viewed.put("keys/0.key")
        #expect(try await viewed.entry(isStored: true)?.contains("URI=\"/a/film-k3f9/aabcde/keys/0.key\"") == true)
    }

    /// Players then play the muxed audio, so `weir check` reports nothing.
    @Test func aReferenceToAMissingGroupStaysUnchanged() async throws {
        let viewed = try ViewedAsset()
        let lines = "#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=640x360,AUDIO=\"none\",SUBTITLES=\"no\""
        try viewed.multivariant(lines + "\n360.m3u8")
        let text = try #require(try await viewed.entry(isStored: false))
        #expect(text == "#EXTM3U\n\(lines)\n/a/film-k3f9/aabcde/video-360p/media.m3u8\n")
        let findings = PlaylistRules.diagnostics(of: Array("#EXTM3U\n\(lines)\n360.m3u8\n".utf8))
        let missing = findings.filter { $0.code == "missingGroup" }
        #expect(missing.isEmpty, "\(findings)")
    }

    /// A playlist of an origin, and its text for players.
    private struct Example {
        let origin: String
        let shown: String
    }

    private static let ended = Example(
        origin: """
            #EXT-X-TARGETDURATION:2
            #EXT-X-PLAYLIST-TYPE:EVENT
            #EXT-X-MEDIA-SEQUENCE:5
            #EXT-X-MAP:URI="all.mp4?token=secret",BYTERANGE="100@0"
            #EXT-X-KEY:METHOD=AES-128,URI="k?token=secret",IV=0x01
            #EXTINF:2,A title
            #EXT-X-BYTERANGE:50@100
            all.mp4?token=secret
            #EXT-X-GAP
            #EXTINF:2,
            gone.mp4?token=secret
            #EXT-X-KEY:METHOD=AES-128,URI="data:text/plain;base64,AAAAAAAAAAAAAAAAAAAAAA=="
            #EXTINF:2,
            #EXT-X-BYTERANGE:50@150
            all.mp4?token=secret
            #EXT-X-ENDLIST
            """,
        shown: """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:2
            #EXT-X-PLAYLIST-TYPE:VOD
            #EXT-X-MEDIA-SEQUENCE:5
            #EXT-X-MAP:URI="init-0.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="../keys/0.key",IV=0x01
            #EXTINF:2,A title
            5.mp4
            #EXT-X-KEY:METHOD=AES-128,URI="../keys/1.key"
            #EXTINF:2,
            #EXT-X-KEY:METHOD=AES-128,URI="../keys/1.key",\
            IV=0x00000000000000000000000000000007
            7.mp4
            #EXT-X-ENDLIST

            """)

    @Test func endedPlaylistsHaveRangesSectionsKeysAndGaps() async throws {
        let viewed = try ViewedAsset()
        try viewed.multivariant("#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x720\nv")
        try viewed.media("video-720p", Self.ended.origin)
        let text = try await viewed.media("video-720p")
        #expect(text == Self.ended.shown)
        #expect(!text.contains("secret"))
    }

    private static let live = Example(
        origin: """
            #EXT-X-TARGETDURATION:2
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1
            #EXT-X-PART-INF:PART-TARGET=0.5
            #EXT-X-MEDIA-SEQUENCE:9
            #EXT-X-MAP:URI="i.mp4?token=secret"
            #EXT-X-PART:DURATION=0.5,URI="9.mp4?token=secret",BYTERANGE="70@0",INDEPENDENT=YES
            #EXT-X-PART:DURATION=0.5,URI="9.mp4?token=secret",BYTERANGE="30"
            #EXTINF:2,
            9.mp4?token=secret
            #EXT-X-PART:DURATION=0.5,URI="10.0.jpg?token=secret"
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="10.1.jpg?token=secret"
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="10.mp4?token=secret",BYTERANGE-START=90
            #EXT-X-RENDITION-REPORT:URI="../video-360p/media.m3u8",LAST-MSN=10,LAST-PART=0
            #EXT-X-RENDITION-REPORT:URI="../elsewhere.m3u8?token=secret",LAST-MSN=10
            """,
        shown: """
            #EXTM3U
            #EXT-X-TARGETDURATION:2
            #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1
            #EXT-X-PART-INF:PART-TARGET=0.5
            #EXT-X-MEDIA-SEQUENCE:9
            #EXT-X-MAP:URI="live-0.mp4"
            #EXT-X-PART:DURATION=0.5,URI="live-1.mp4",INDEPENDENT=YES
            #EXT-X-PART:DURATION=0.5,URI="live-2.mp4"
            #EXTINF:2,
            9.mp4
            #EXT-X-PART:DURATION=0.5,URI="live-3.m4s"
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="live-4.m4s"
            #EXT-X-PRELOAD-HINT:TYPE=PART,URI="live-5.mp4"
            #EXT-X-RENDITION-REPORT:URI="../video-360p/media.m3u8",LAST-MSN=10,LAST-PART=0
            #EXT-X-RENDITION-REPORT:URI="none",LAST-MSN=10

            """)

    @Test func aLivePlaylistChangesOnlyItsNames() async throws {
        let viewed = try ViewedAsset()
        try viewed.multivariant(
            "#EXT-X-STREAM-INF:BANDWIDTH=2,RESOLUTION=1x720\nvideo-720p/media.m3u8?token=secret\n"
                + "#EXT-X-STREAM-INF:BANDWIDTH=1,RESOLUTION=1x360\nvideo-360p/media.m3u8?token=secret")
        try viewed.media("video-720p", Self.live.origin)
        #expect(try await viewed.media("video-720p") == Self.live.shown)
        #expect(try await viewed.entry(isStored: true) == nil)
    }

    // MARK: Sessions

    private static let keyed = """
        #EXT-X-TARGETDURATION:2
        #EXT-X-MAP:URI="i.mp4"
        #EXT-X-KEY:METHOD=AES-128,URI="k?token=secret"
        #EXTINF:2,
        a.mp4?token=secret
        #EXT-X-ENDLIST
        """
    private static let interstitial = """
        #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
        #EXT-X-DATERANGE:ID="a",CLASS="com.apple.hls.interstitial",START-DATE="2026-01-01T00:00:00Z",\
        X-ASSET-URI="http://ads/a.m3u8",X-ASSET-LIST="http://ads/a.json"

        """

    /// Sessions, tokens in the path, and the host in front of it are no part of the text.
    @Test func allSessionsHaveOneMediaPlaylist() async throws {
        let viewed = try ViewedAsset()
        try viewed.lone(Self.keyed)
        let rendition = try #require(viewed.asset.renditions.first)
        let source = try #require(rendition.source)
        let draft = await viewed.view.draft(rendition, source)
        let text = SessionlessText(try #require(try draft.text()))
        #expect(text.gaps.isEmpty && String(decoding: text.bytes, as: UTF8.self).contains("\n0.mp4\n"))
        for mode in [Session.Mode.auto, .offline, .local, .adaptive] {
            var other = PlayerView(library: viewed.library, asset: viewed.asset, session: Session(mode))
            other.mount = "/t/token"
            other.base = "https://tv.example"
            #expect(await other.draft(rendition, source) == draft, "\(mode)")
        }
    }

    /// The player resolves the URIs of the entry against the entry's own URL, which may be anything.
    @Test func aMediaPlaylistAsTheEntryHasPathsOfItsSession() async throws {
        let viewed = try ViewedAsset()
        try viewed.lone(Self.interstitial + Self.keyed)
        var view = viewed.view
        view.isInFolder = false
        let text = try await viewed.media("media", view)
        let path = "/a/film-k3f9/aabcde"
        let uris = text.split { "\n\"".contains($0) }.filter { $0.hasPrefix("/") || $0.contains("..") }
        #expect(uris.count == 5, "\(text)")
        #expect(uris[0].hasPrefix("\(path)/interstitials/") && uris[0].hasSuffix(".m3u8"))
        #expect(uris[1].hasPrefix("\(path)/interstitials/") && uris[1].hasSuffix(".json"))
        #expect(Array(uris[2...]) == ["\(path)/media/init-0.mp4", "\(path)/keys/0.key", "\(path)/media/0.mp4"])
    }

    /// X-ASSET-URI is absolute (rfc8216bis appendix D): it alone names the session in a media playlist.
    @Test func onlyInterstitialsNameTheSession() async throws {
        let viewed = try ViewedAsset()
        try viewed.lone(Self.interstitial + Self.keyed)
        var view = viewed.view
        view.base = "https://tv.example"
        let text = try await viewed.media("media", view)
        #expect(text.contains("X-ASSET-URI=\"https://tv.example/a/film-k3f9/aabcde/interstitials/"), "\(text)")
        #expect(text.contains("X-ASSET-LIST=\"/a/film-k3f9/aabcde/interstitials/"), "\(text)")
        #expect(text.split(separator: "/aabcde/").count == 3, "\(text)")
        #expect(text.contains("\n0.mp4\n") && text.contains("\"../keys/0.key\"") && text.contains("\"init-0.mp4\""))
    }
}
