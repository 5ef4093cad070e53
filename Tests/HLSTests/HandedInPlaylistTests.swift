import Glibc
import Testing

@testable import HLS

/// Playlists and channel lists that were made to keep the daemon busy.
@Suite(.serialized) struct HandedInPlaylistTests {
    private func processorTime(of body: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
        let begin = now()
        body()
        return now() - begin
    }

    @Test(
        "A line of bytes that are not UTF-8 takes time in proportion to its length",
        arguments: ["#EXTINF:4,", "", "#EXT-X-KEY:METHOD=NONE,URI=\"", "   "])
    func brokenEncodingIsLinear(head: String) {
        func time(_ count: Int) -> Double {
            let text = Array("#EXTM3U\n#EXTINF:4,\n0.ts\n\(head)".utf8) + [UInt8](repeating: 0xFF, count: count)
            return processorTime { _ = try? Playlist.parse(text + Array("\n".utf8)) }
        }
        let short = max(time(20_000), time(20_000), 1e-4)
        let long = time(80_000)
        #expect(long < short * 9, "\(short) s, then \(long) s")
    }

    @Test("Bytes that are not UTF-8 are percent-encoded in a URI alone")
    func brokenEncodingIsToldByItsPlace() throws {
        let lines: [[UInt8]] = [
            Array("#EXTM3U".utf8), Array("#EXTINF:4,a".utf8) + [0xE9], Array("  s".utf8) + [0xE9] + Array("/0.ts".utf8),
            Array("#EXT-X-MAP:URI=\"i".utf8) + [0xE9] + Array("\",X=\"".utf8) + [0xE9] + Array("\"".utf8),
            Array("#EXTINF:4,".utf8), Array("1.ts".utf8), Array("#EXT-X-ENDLIST".utf8),
        ]
        let text = String(decoding: try PlaylistText(Array(lines.joined(separator: [0x0A]))).bytes, as: UTF8.self)
        #expect(text.contains("#EXTINF:4,aé\n") && text.contains("s%E9/0.ts"))
        #expect(text.contains("URI=\"i%E9\",X=\"é\""))
    }

    @Test("A channel has at most 32 header fields")
    func fieldsOfAChannelAreLimited() {
        let fields = (0..<1000).map { "X-\($0)=1" }.joined(separator: "&")
        let list = ChannelList(Array("#EXTM3U\n#EXTINF:-1,a\nhttp://host/a.m3u8|\(fields)\n".utf8))
        #expect(list.channels.first?.fields.count == 32)
    }
}
