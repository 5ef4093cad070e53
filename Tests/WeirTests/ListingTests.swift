import Control
import Orders
import Testing
import WeirAPI

@testable import weir

@Suite struct ListingTests {
    private var asset: API.Asset {
        var asset = API.Asset(
            name: "sintel", id: "sintel-k3f9", title: "Sintel", url: "https://h/m.m3u8", duration: 888.1)
        asset.local = .partial
        asset.bytes = 158_334_976
        asset.state = .downloading
        asset.stored = .partlySaved
        asset.tracks.variants = [sampleVariant]
        var bundled = API.Rendition(id: nil, group: "a", name: "Deutsch", language: "de")
        bundled.isForced = true
        var english = API.Rendition(id: "audio-en", group: "a", name: "English", language: "en", isDefault: true)
        english.stored = .saved
        english.isComplete = true
        english.bytes = 2048
        asset.tracks.audio = [english, bundled]
        return asset
    }

    @Test func theListIsATable() {
        var live = API.Asset(name: "news", id: "n", url: "https://h/n.m3u8")
        live.isLive = true
        #expect(
            ListCommand.table([asset, live].map(ListedAsset.init)).lines == [
                "NAME    TIME   QUALITY  SIZE    STATE                      TITLE",
                "sintel  14:48  720p     151 MB  downloading, partly saved  Sintel",
                "news    live   –        –       not stored",
            ])
    }

    @Test func whatWasSeenHasAColumn() {
        var begun = asset
        begun.position = 382
        var watched = asset
        watched.isWatched = true
        #expect(
            ListCommand.table([begun, watched].map(ListedAsset.init)).lines == [
                "NAME    TIME   SEEN     QUALITY  SIZE    STATE                      TITLE",
                "sintel  14:48  43 %     720p     151 MB  downloading, partly saved  Sintel",
                "sintel  14:48  watched  720p     151 MB  downloading, partly saved  Sintel",
            ])
    }

    @Test func aLongTitleIsCutForATerminal() {
        var long = asset
        long.title = String(repeating: "t", count: 99)
        let table = ListCommand.table([asset, long].map(ListedAsset.init))
        let lines = table.cutting("TITLE", to: 80).lines
        #expect(lines[1] == "sintel  14:48  720p     151 MB  downloading, partly saved  Sintel")
        #expect(lines[2].count == 80 && lines[2].hasSuffix("ttt…"))
        #expect(table.cutting("TITLE", to: 20).lines[2].hasSuffix("  downloading, partly saved  ttttttttttt…"))
        #expect(table.lines[2].hasSuffix("tttt"))
    }

    @Test func n12TheListSaysThatTheOriginHasOtherContent() {
        var changed = asset
        changed.hasChanged = true
        #expect(ListedAsset(changed).row.dropLast().last == "downloading, partly saved, other content at the origin")
    }

    /// Mission P4.
    @Test func p4ARangeIsListedAsSuch() {
        var part = asset
        part.local = .yes
        part.state = .saved
        part.stored = .saved
        part.title = nil
        part.ranges = [.init(start: 0, end: 10), .init(start: 300, end: 360)]
        #expect(
            ListCommand.table([ListedAsset(part)]).lines.last
                == "sintel  14:48  720p     151 MB  saved (only 0:00-0:10, 5:00-6:00)")
        #expect(ShowCommand.lines(part).contains("only 0:00-0:10, 5:00-6:00"))
    }

    /// Mission S12.
    @Test func s12ClosedCaptionsAreListed() {
        var shown = asset
        var captions = API.Rendition(id: nil, group: "cc", name: "English", language: "en", isDefault: true)
        captions.instreamID = "CC1"
        shown.tracks.captions = [captions]
        #expect(
            ShowCommand.lines(shown).last?.hasPrefix("captions en    –         English, CC1, default  in the variants")
                == true)
    }

    /// A better quality that is stored in part must not be shown as stored.
    @Test func theListShowsTheBestCompleteQuality() {
        var low = API.Variant(id: "low", stored: .cached, isComplete: true)
        var high = API.Variant(id: "high", stored: .partlySaved)
        low.height = 360
        high.height = 1080
        #expect(API.Tracks(variants: [low, high]).storedQuality == "360p")
        low.isComplete = false
        #expect(API.Tracks(variants: [low, high]).storedQuality == "1080p")
        high.stored = .notStored
        #expect(API.Tracks(variants: [low, high]).storedQuality == "360p")
    }

    @Test func anAssetIsShownWithItsTracks() {
        #expect(
            ShowCommand.lines(asset) == [
                "sintel  Sintel  14:48  partly saved, 151 MB", "https://h/m.m3u8", "",
                "TRACK          BIT RATE  ABOUT                  SIZE                    STORED",
                "720p 1280x720  2.1 Mb/s  avc1.64001f,mp4a.40.2  151 MB of about 240 MB  partly saved",
                "audio en       –         English, default       2.0 KB                  saved",
                "audio de       –         Deutsch, forced        in the variants         –",
            ])
    }

    @Test func thePlayCacheIsShownSeparately() {
        var asset = asset
        asset.cachedBytes = 2_097_152
        #expect(
            ShowCommand.lines(asset)[0]
                == "sintel  Sintel  14:48  partly saved, 151 MB, 2.0 MB of that in the play cache")
        asset.cachedBytes = asset.bytes
        #expect(
            ShowCommand.lines(asset)[0] == "sintel  Sintel  14:48  partly saved, 151 MB, all of that in the play cache")
    }

    @Test func aChangedAssetIsMarked() {
        var asset = asset
        asset.hasChanged = true
        #expect(ShowCommand.lines(asset)[2].contains("\"weir get sintel\""))
        asset.isRevised = true
        #expect(ShowCommand.lines(asset)[2].contains("until the new content is complete"))
    }

    @Test func anAssetWithoutVerifiedCertificatesIsMarked() {
        var asset = asset
        #expect(!ShowCommand.lines(asset).contains { $0.contains("--insecure") })
        asset.isInsecure = true
        #expect(ShowCommand.lines(asset)[2].hasPrefix("WARNING: the certificates of its servers are not verified"))
        #expect(ShowCommand.lines(asset)[2].contains("\"weir resume sintel --no-insecure\""))
        #expect(ListedAsset(asset).row[5] == "downloading, partly saved, certificates not verified")
    }

    @Test func aPresentationIsShownWithEstimates() {
        var variant = sampleVariant
        variant.stored = .notStored
        let presentation = API.Presentation(url: "https://h/m.m3u8", duration: 61, tracks: .init(variants: [variant]))
        #expect(
            ShowCommand.lines(presentation) == [
                "1:01", "https://h/m.m3u8", "", "TRACK          BIT RATE  ABOUT                  SIZE          STORED",
                "720p 1280x720  2.1 Mb/s  avc1.64001f,mp4a.40.2  about 240 MB  –",
            ])
    }

    @Test(arguments: [
        ("http://127.0.0.1:8216", "http://localhost:8216"), ("http://[::1]:1", "http://localhost:1"),
        ("http://127.0.0.2:5", "http://127.0.0.2:5"),
    ])
    func playersAreGivenLocalhost(base: String, shown: String) {
        let urls = PlayerURL(base: base)
        #expect(urls.entry("https://h/m.m3u8?a=1") == shown + "/https://h/m.m3u8?a=1")
        #expect(urls.entry("sintel") == shown + "/sintel.m3u8")
        #expect(urls.offlineAsset(named: "a b") == shown + "/offline/a%20b.m3u8")
    }
}
