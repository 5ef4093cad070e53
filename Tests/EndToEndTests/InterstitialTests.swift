import Foundation
import TestSupport
import Testing

/// Interstitials (rfc8216bis appendix D) in a real player.
@Suite("An interstitial")
struct InterstitialTests {
    /// A presentation with date ranges that name a fixture, directly and in an asset list.
    private func film(_ scene: Scene, _ fixture: String) async throws -> String {
        let range = "#EXT-X-DATERANGE:CLASS=\"com.apple.hls.interstitial\",START-DATE=\"2026-01-01T00:00:00Z\""
        let segments = (0..<6).map { "#EXTINF:2,\n\($0).ts\n" }.joined()
        try await scene.origin.add(
            OriginRule("/ts/90p/media.m3u8") {
                ($0.status, $0.body) = (
                    200,
                    """
                    #EXTM3U
                    #EXT-X-TARGETDURATION:2
                    #EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z
                    \(range),ID="1",X-ASSET-URI="../../\(fixture)/master.m3u8"
                    \(range),ID="2",X-ASSET-LIST="/lists/2?token=secret"
                    \(segments)#EXT-X-ENDLIST

                    """
                )
            },
            OriginRule("/lists/*") {
                ($0.status, $0.body) = (200, "{\"ASSETS\":[{\"URI\":\"../\(fixture)/master.m3u8\",\"DURATION\":12}]}")
            })
        return await scene.url("/ts/90p/media.m3u8")
    }

    @Test(
        "plays the origin's frames, and so does the primary asset",
        arguments: ["aes", "byterange-fmp4", "cmaf"])
    func playsOriginFrames(fixture: String) async throws {
        try await Scene.with { scene in
            let url = try await film(scene, fixture)
            let direct = try await FrameHashes.of(scene.origin.url("/ts/90p/media.m3u8"))
            let text = try await HTTPProbe.fetch(url).text
            let names = PlaylistWalk.references(in: text).filter { $0.hasSuffix(".m3u8") }
            try await expectFrames(scene.weir.url(try #require(names.first)), of: fixture)

            let list = try #require(
                text.range(of: "X-ASSET-LIST=\"").map { text[$0.upperBound...].prefix { $0 != "\"" } })
            let json = try await HTTPProbe.fetch(scene.weir.url(String(list)))
            let part = json.text.components(separatedBy: "\"URI\":\"").last ?? ""
            let listed = String(part.prefix { $0 != "\"" })
            #expect(json.status == 200 && listed == names.first, "\(json.text)")

            let frames = try await FrameHashes.of(url)
            #expect(frames.firstDifference(from: direct) == nil && frames.complaints == [])
            #expect(scene.pieces().count == 6 && scene.pieces().allSatisfy { $0.contains("/media/") })
        }
    }
}
