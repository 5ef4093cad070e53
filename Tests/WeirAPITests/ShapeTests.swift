import Orders
import SafeText
import Testing

@testable import WeirAPI

/// Compares the exact JSON of each shape, since scripts depend on it.
@Suite struct ShapeTests {
    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try API.encode(value), as: UTF8.self)
    }

    private var variant: API.Variant {
        var variant = API.Variant(id: "video-720p", stored: .partlySaved, bytes: 158_334_976)
        variant.width = 1280
        variant.height = 720
        variant.codecs = "avc1.64001f,mp4a.40.2"
        variant.bandwidth = 2_100_000
        variant.averageBandwidth = 1_900_000
        variant.frameRate = 23.976
        variant.estimatedBytes = 240_000_000
        return variant
    }

    @Test func anAssetAsJSON() throws {
        var asset = API.Asset(
            name: "sintel", id: "sintel-k3f9", title: "Sintel", url: "https://example.com/a/master.m3u8",
            duration: 888.0999)
        asset.local = .partial
        asset.bytes = 158_334_976
        asset.cachedBytes = 1_000_000
        asset.state = .downloading
        asset.stored = .partlySaved
        asset.download = "d1"
        asset.tracks.audio = [
            API.Rendition(id: "audio-en", group: "a", name: "English", language: "en", isDefault: true)
        ]
        #expect(
            try json(API.AssetList(assets: [asset], playCache: API.PlayCache(bytes: 1_000_000, limit: 2_000_000)))
                == #"{"assets":[{"bytes":158334976,"cachedBytes":1000000,"download":"d1","duration":888.1,"#
                + #""id":"sintel-k3f9","isLive":false,"local":"partial","name":"sintel","state":"downloading","stored":"partly-saved","title":"Sintel","#
                + #""tracks":{"audio":[{"bytes":0,"group":"a","id":"audio-en","isComplete":false,"isDefault":true,"language":"en","#
                + #""name":"English","stored":"not-stored"}],"subtitles":[],"variants":[]},"#
                + #""url":"https://example.com/a/master.m3u8"}],"playCache":{"bytes":1000000,"limit":2000000}}"#)
    }

    @Test func aDownloadAsJSON() throws {
        var download = API.Download(id: "d1", asset: "sintel")
        download.state = .failed
        download.loaded = [.init(start: 0, end: 559.20000001)]
        download.duration = 888.1
        download.bytes = 158_334_976
        download.totalBytes = 240_000_000
        download.selection.variants = [variant]
        download.priority = .important
        download.note = "for the train"
        download.expected = [.init(start: 0, end: 888.1)]
        download.fraction = API.rounded(158_334_976.0 / 240_000_000)
        var part = API.Download.Part(id: "video-720p", kind: .video)
        part.loaded = download.loaded
        part.expected = download.expected
        part.bytes = 158_334_976
        part.totalBytes = 240_000_000
        part.fraction = download.fraction
        part.weight = 1
        download.parts = [part]
        download.error = .init(code: .diskFull, message: "sintel: the disk is full")
        #expect(
            try json(download) == #"{"asset":"sintel","bytes":158334976,"duration":888.1,"#
                + #""error":{"code":"disk-full","message":"sintel: the disk is full"},"expected":[[0,888.1]],"fraction":0.6597,"#
                + #""id":"d1","loaded":[[0,559.2]],"note":"for the train","parts":[{"bytes":158334976,"expected":[[0,888.1]],"#
                + #""fraction":0.6597,"id":"video-720p","isComplete":false,"kind":"video","loaded":[[0,559.2]],"#
                + #""totalBytes":240000000,"weight":1}],"priority":"important","#
                + #""selection":{"audio":[],"subtitles":[],"variants":[{"averageBandwidth":1900000,"bandwidth":2100000,"#
                + #""bytes":158334976,"codecs":"avc1.64001f,mp4a.40.2","estimatedBytes":240000000,"frameRate":23.976,"#
                + #""height":720,"id":"video-720p","isComplete":false,"stored":"partly-saved","width":1280}]},"state":"failed","totalBytes":240000000}"#
        )
        #expect(try API.decode(API.Download.self, from: API.encode(download)) == download)
    }

    @Test func aPresentationAsJSON() throws {
        let presentation = API.Presentation(url: "https://h/a.m3u8", isLive: true, tracks: .init())
        #expect(
            try json(presentation)
                == #"{"isLive":true,"tracks":{"audio":[],"subtitles":[],"variants":[]},"url":"https://h/a.m3u8"}"#)
    }

    @Test func aProblemAsJSON() throws {
        let error = APIError(.noSuchAsset, "no asset is called x", next: "weir list", underlying: nil)
        #expect(
            try json(API.Problem(error)) == #"{"code":"no-such-asset","detail":"no asset is called x","#
                + #""next":"weir list","status":404,"title":"No such asset","#
                + #""type":"/api/v1/openapi.json#no-such-asset"}"#)
    }

    @Test func aDownloadRequestNeedsOnlyItsSource() throws {
        let request: API.DownloadRequest = try API.decode(from: Array(#"{"source":"sintel","new":1}"#.utf8))
        #expect(request == API.DownloadRequest(source: "sintel"))
        #expect(try json(request) == #"{"source":"sintel"}"#)
    }

    @Test func aDownloadRequestWithAllItsPreferencesAsJSON() throws {
        var request = API.DownloadRequest(source: "sintel", Selection(quality: .heightAtMost(1080)))
        var preferences = Selection.Preferences()
        preferences.minimumBitRate = 2_000_000
        preferences.minimumSize = Selection.Size("1280x720")
        preferences.prefersHDR = true
        preferences.prefersMultichannel = true
        preferences.isFast = true
        preferences.codecs = ["avc1", "hvc1"]
        preferences.languages = ["ja"]
        preferences.locale = "en-GB"
        request.order.selection.preferences = preferences
        #expect(
            try json(request) == #"{"preferences":{"codecs":["avc1","hvc1"],"isFast":true,"#
                + #""languages":["ja"],"locale":"en-GB","minimumBitRate":2000000,"minimumSize":"1280x720","#
                + #""prefersHDR":true,"prefersMultichannel":true},"quality":"<=1080p","source":"sintel"}"#
        )
        #expect(try API.decode(API.DownloadRequest.self, from: API.encode(request)) == request)
    }

    @Test func aDownloadRequestWithAllUserChoicesAsJSON() throws {
        var request = API.DownloadRequest(source: "sintel")
        request.order.additional = [.init(quality: .height(360), audio: .languages(["ja"]))]
        request.order.range = MediaRange(start: 600, end: nil)
        request.name = "a"
        request.title = "A"
        request.order.note = "n"
        request.order.priority = .important
        request.order.record = true
        request.order.ignoreSpace = true
        request.order.paused = true
        request.headers = [try #require(API.Header("Referer: https://h/"))]
        #expect(
            try json(request)
                == #"{"additional":[{"audio":"ja","quality":"360p"}],"#
                + #""headers":[{"name":"Referer","value":"https://h/"}],"ignoreSpace":true,"name":"a","note":"n","#
                + #""paused":true,"priority":"important","range":[600,null],"record":true,"source":"sintel","title":"A"}"#
        )
        #expect(try API.decode(API.DownloadRequest.self, from: API.encode(request)) == request)
        #expect("\(request.headers ?? [])" == "[Referer]")
        #expect(request.order.contradiction == "a recording has no range: give only one of the two")
        request.order.range = nil
        #expect(request.order.contradiction == nil)
        request.order.additional?[0].wishes.minimumSize = Selection.Size("720p")
        #expect(request.order.contradiction?.hasPrefix("no variant of the quality 360p") ?? false)
    }

    @Test(arguments: ["[20,10]", "[-1,2]", "[1,2,3]", "[]", #"["1",2]"#, "5", "[null,2]"])
    func aBadRangeIsRefused(text: String) {
        let error = #expect(throws: APIError.self) {
            try API.decode(API.DownloadRequest.self, from: Array(#"{"source":"x","range":\#(text)}"#.utf8))
        }
        #expect(error?.code == .badRequest && error?.message.contains("range") ?? false)
    }

    @Test func aFractionIsNotRoundedUpToOne() {
        #expect(API.rounded(0.99999) == 0.9999 && API.rounded(1) == 1 && API.rounded(0.7) == 0.7)
    }

    @Test(arguments: [
        (#"{"quality":"best"}"#, "source is missing"),
        (
            #"{"source":"x","quality":"huge"}"#,
            #"quality: "huge" is not best, worst, 720p, <=1080p, 2M, or a list such as 720p,best"#
        ),
        (
            #"{"source":"x","preferences":{"minimumSize":"big"}}"#,
            #"preferences.minimumSize: "big" is not 1280x720 or 720p"#
        ),
        (#"{"source":null}"#, "source is null"),
        ("[]", "the text is not the expected JSON object"),
        ("{", "the text is not the expected JSON object"),
    ])
    func aBadDownloadRequestIsRefusedBySentence(text: String, sentence: String) {
        let error = #expect(throws: APIError.self) {
            try API.decode(API.DownloadRequest.self, from: Array(text.utf8))
        }
        #expect(error?.code == .badRequest)
        #expect(error?.message == sentence)
    }

    @Test func theDefaultsAreThoseOfEachSelection() {
        var request = API.DownloadRequest(source: "x")
        request.order.additional = [Selection(quality: .worst)]
        request.order.note = "kept"
        let defaults = Selection(quality: .best, audio: .all)
        let all = request.with(defaults: defaults)
        #expect(
            all.order.selections == [defaults, Selection(quality: .worst, audio: .all)] && all.order.note == "kept")
    }
}
