import Foundation
import Orders
import Testing
import WeirAPI

@testable import Daemon

@Suite struct NoticeTests {
    @Test func anExpiryIsFoundOnceAlsoAfterARestart() {
        var clock = ExpiryClock(last: 100)
        let looks: [(now: Int64, expirations: [String: Int64], found: [String])] = [
            // The earlier daemon announced the expiry of "old" at its last look, at 100.
            (110, ["old": 99, "at": 100, "missed": 101, "now": 110, "later": 111], ["missed", "now"]),
            (111, ["now": 110, "later": 111], ["later"]), (112, ["now": 110, "later": 111], []),
            // A policy that was changed expires once more.
            (120, ["now": 115], ["now"]),
            // The clock was set back.
            (50, ["now": 115, "new": 45], []), (121, ["new": 121], ["new"]),
        ]
        for look in looks {
            #expect(clock.expired(of: look.expirations, at: look.now) == look.found, "\(look)")
        }
    }

    @Test func aProgramGetsTheAssetInItsEnvironmentAndAsJSON() throws {
        var asset = API.Asset(name: "sintel", id: "sintel-k3f9", url: "https://h/m.m3u8?token=secret")
        asset.title = "A\0\n\"b\""
        asset.path = "/s/sintel"
        asset.bytes = 12
        asset.duration = 888.9
        let notice = Notice(kind: .failed, asset: asset, cause: "the origin answered 404")
        #expect(
            notice.variables == [
                "WEIR_EVENT=failed", "WEIR_ASSET=sintel", "WEIR_ASSET_ID=sintel-k3f9", "WEIR_ASSET_TITLE=A\n\"b\"",
                "WEIR_ASSET_PATH=/s/sintel", "WEIR_ASSET_BYTES=12", "WEIR_ASSET_DURATION=888",
                "WEIR_CAUSE=the origin answered 404",
            ])
        let object = try #require(try JSONSerialization.jsonObject(with: Data(notice.json)) as? [String: Any])
        #expect(object["v"] as? Int == 1 && object["t"] as? String == "failed")
        #expect((object["asset"] as? [String: Any])?["title"] as? String == asset.title)
        #expect(notice.json.last == UInt8(ascii: "\n") && notice.json.count { $0 == UInt8(ascii: "\n") } == 1)
        let plain = Notice(kind: .complete, asset: API.Asset(name: "a", id: "a", url: "https://h/a"), cause: nil)
        #expect(
            plain.variables == [
                "WEIR_EVENT=complete", "WEIR_ASSET=a", "WEIR_ASSET_ID=a", "WEIR_ASSET_TITLE=a", "WEIR_ASSET_BYTES=0",
            ])
    }

    @Test func eachStateOfADownloadHasALine() {
        var download = API.Download(id: "a", asset: "a")
        let line = { (state: JobState, need: Need?, cause: String?) in
            download.state = state
            download.need = need
            download.error = cause.map { .init(code: .badOrigin, message: $0) }
            return DownloadLog.line(download, isFirst: true)
        }
        #expect(line(.queued, nil, nil) == nil)
        #expect(line(.running, nil, nil) == "download begins")
        #expect(line(.paused, nil, nil) == "download paused")
        #expect(
            line(.waiting, .network, "h cannot be reached") == "download waits for the network: h cannot be reached")
        #expect(line(.waiting, .volume, nil) == "download waits for its disk")
        #expect(line(.failed, nil, "404") == "download failed: 404")
        #expect(line(.cancelled, nil, nil) == "download cancelled")
        download.summary = .init(
            began: 1, ended: 9, seconds: 4, bytes: 8 << 20, requests: 9, retries: 0, interruptions: 0)
        download.totalBytes = 16 << 20
        #expect(line(.complete, nil, nil) == "saved, 8.0 MB in 4.0 s, 2.0 MB/s")
        download.state = .running
        #expect(DownloadLog.line(download, isFirst: false) == "download continues, about 16 MB in all")
    }
}
