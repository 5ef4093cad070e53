import Foundation
import TestSupport
import Testing

@Suite("Players that do not read")
struct SlowReaderTests {
    private static let readers = 50
    private static let size = 100_000_000

    /// The server's resident memory after it has stopped growing.
    private func settledMemory(_ weir: WeirProcess) async throws -> Int {
        var last = 0
        var calm = 0
        try await waitUntil("memory that does not grow", within: .seconds(60)) {
            let now = try await weir.residentMemory()
            calm = now <= last ? calm + 1 : 0
            last = max(last, now)
            return calm > 100
        }
        return last
    }

    @Test("cost little memory, and do not delay other players")
    func costLittleMemory() async throws {
        try await Scene.with { scene in
            let list = await scene.url("/_vod/2x\(Self.size)/media.m3u8")
            let segments = try await PlaylistWalk.segments(list)
            let ts = try await PlaylistWalk.firstSegment(ofLastVariant: scene.master("ts"))
            // A normal reader shows the cost of one transfer; the rest is due to the slow readers.
            let first = try await HTTPProbe.fetch(segments[1], within: .seconds(120))
            #expect(first.isComplete && first.body.count == Self.size)
            #expect(try await HTTPProbe.fetch(ts).status == 200)
            let before = try await settledMemory(scene.weir)

            var readers: [SegmentReader] = []
            for _ in 0..<Self.readers {
                readers.append(try await SegmentReader(segments[0], receiveBuffer: 4096))
            }
            for reader in readers {
                #expect(try await reader.head().contains("\r\nContent-Length: \(Self.size)\r\n"))
            }
            try await waitUntil("the whole segment in the store", within: .seconds(120)) { scene.pieces().count == 3 }
            let after = try await settledMemory(scene.weir)
            #expect(after - before < Self.readers * 64 * 1024, "\(after - before) bytes for \(Self.readers) readers")

            let start = ContinuousClock.now
            #expect(try await HTTPProbe.fetch(ts).body == Repository.fixture("/ts/270p/0.ts"))
            #expect(ContinuousClock.now - start < .seconds(2))
            #expect(try await scene.repetitions() == [:])
            // The slow readers still get their bytes.
            #expect(try await readers[0].bytes(1_000_000).count == 1_000_000)
        }
    }
}
