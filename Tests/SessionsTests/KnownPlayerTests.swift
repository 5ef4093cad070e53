import Playheads
import Testing

@testable import Sessions

struct KnownPlayerTests {
    private static let ffmpeg = "Lavf/59.27.100"
    private static let mpv = "libmpv"
    private static let vlc = "VLC/3.0.23 LibVLC/3.0.23"
    private static let gstreamer = "GStreamer souphttpsrc 1.22.0 libsoup/3.2.3"
    private static let browser = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36"
    private static let apple = "AppleCoreMedia/1.0.0.20G75 (iPhone; U; CPU OS 16_6 like Mac OS X; en_us)"
    private static let exoPlayer = "Films/2.1 (Linux; Android 13) ExoPlayerLib/2.18.1"

    @Test(arguments: [ffmpeg, mpv, vlc])
    func aPatientPlayerWaits(_ client: String) {
        #expect(KnownPlayer(client: client).timeout == .seconds(20))
    }

    @Test(arguments: [nil, "", gstreamer, browser, apple, exoPlayer, "Mozilla/5.0 VLC/3"])
    func anUnknownPlayerDoesNotWait(_ client: String?) {
        #expect(KnownPlayer(client: client).timeout == nil)
    }

    @Test(arguments: [
        (ffmpeg, true), (mpv, true), (vlc, false), (gstreamer, false), (browser, false), ("mpv 0.35", false),
        (nil, false),
    ])
    func isBuiltOnLibavformat(_ client: String?, isLibavformat: Bool) {
        #expect(KnownPlayer(client: client).isLibavformat == isLibavformat)
    }

    @Test(arguments: [
        (apple, false, true), (apple, true, true), (exoPlayer, false, true), (browser, false, true),
        (browser, true, false), (ffmpeg, false, false), (mpv, false, false), (vlc, false, false),
        (gstreamer, false, false), (nil, false, false),
    ])
    func skipsGaps(_ client: String?, isRange: Bool, skips: Bool) {
        #expect(KnownPlayer(client: client).skipsGaps(isRange: isRange) == skips)
    }

    @Test(arguments: [
        ffmpeg, mpv, vlc, gstreamer, "mpv 0.35", "curl/7.88.1", "Wget/1.21.3", "Python-urllib/3.11", "Weir/1.0",
    ])
    func hasAStockName(_ client: String) {
        #expect(KnownPlayer(client: client).hasStockName)
    }

    @Test(arguments: [nil, "", browser, apple, exoPlayer, "AcmeTV/1 Lavf/59"])
    func hasANameOfItsOwn(_ client: String?) {
        #expect(!KnownPlayer(client: client).hasStockName)
    }

    @Test func itsConnectionsAndPartsAreThoseOfItsKind() {
        #expect(
            KnownPlayer(client: Self.mpv).traits == PlayerTraits(playsParts: true, resume: 1, keepsConnections: true))
        #expect(
            KnownPlayer(client: Self.ffmpeg).traits
                == PlayerTraits(playsParts: true, resume: 0.2, keepsConnections: true))
        #expect(KnownPlayer(client: Self.browser).traits == PlayerTraits(poolsConnections: true))
        #expect(KnownPlayer(client: Self.vlc).traits == PlayerTraits())
        #expect(KnownPlayer(client: nil).traits == PlayerTraits())
    }
}
