import Foundation
import TestSupport
import Testing

@Suite("One origin request")
struct RequestCollapsingTests {
    @Test("serves twenty players of one cold segment with every byte")
    func sharesOneFetchAmongTwentyPlayers() async throws {
        try await Scene.with { scene in
            let file = try Repository.fixture("/ts/270p/0.ts")
            try await scene.origin.add(OriginRule("*.ts") { $0.pauseAfter = 5000 })
            let segment = try await PlaylistWalk.firstSegment(ofLastVariant: scene.master("ts"))
            let address = await scene.weir.address
            let port = await scene.weir.port
            let path = segment.dropFirst(address.count)
            let players = try (0..<20).map { _ in try RawConnection(port: port) }
            for player in players {
                try await player.send(
                    "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\r\n")
            }
            for player in players {
                let head = try await player.receiveHead()
                #expect(String(decoding: head.bytes, as: UTF8.self).contains("\r\nContent-Length: \(file.count)\r\n"))
                #expect(try await player.receive(count: 5000).bytes == file.prefix(5000))
            }
            try await scene.origin.release()
            for player in players {
                let rest = try await player.receive()
                #expect(rest.bytes == file.dropFirst(5000) && rest.end == .closed)
            }
            #expect(try await scene.mediaRequests().map(\.resource) == ["/ts/270p/0.ts"])
        }
    }

    @Test("per resource serves twenty clients that load everything at one time", arguments: ["aes", "byterange-fmp4"])
    func sharesFetchesAmongTwentyClients(fixture: String) async throws {
        try await Scene.with { scene in
            let master = await scene.master(fixture)
            try await withThrowingTaskGroup(of: [Data].self) { group in
                for _ in 0..<20 {
                    group.addTask {
                        try await PlaylistWalk.load(master).values.sorted { $0.lexicographicallyPrecedes($1) }
                    }
                }
                let first = try await group.next()
                for try await bodies in group {
                    #expect(bodies == first)
                }
            }
            let repetitions = try await scene.repetitions()
            let repeated = try await scene.mediaRequests().filter { repetitions[$0.resource] != nil }
            #expect(repetitions == [:], "\(repeated)")
            #expect(
                try await scene.origin.requests().filter { $0.path.contains(".m3u8") && !$0.path.contains("master") }
                    .count <= 2)
        }
    }

    @Test("serves a download and a player of the same asset", arguments: ["ts", "aes", "cmaf", "byterange-ts"])
    func sharesFetchesWithDownload(fixture: String) async throws {
        try await Scene.with { scene in
            try await scene.origin.add(OriginRule("/\(fixture)/*") { $0.throttle = 200_000 })
            let get = try scene.weir.begin(["get", scene.origin.master(fixture)])
            let frames = try await FrameHashes.of(scene.master(fixture))
            #expect(try await get.end() == .code(0), "\(get.standardError)")
            #expect(try await frames.firstDifference(from: PlainFrames.of(fixture)) == nil)
            #expect(try await scene.repetitions() == [:])
        }
    }

    @Test("suffices although a player leaves in the middle of a segment")
    func continuesAfterPlayerLeaves() async throws {
        try await Scene.with { scene in
            let file = try Repository.fixture("/ts/270p/0.ts")
            try await scene.origin.add(OriginRule("*.ts") { ($0.pauseAfter, $0.times) = (30_000, 1) })
            let segment = try await PlaylistWalk.firstSegment(ofLastVariant: scene.master("ts"))
            let port = await scene.weir.port
            let path = await segment.dropFirst(scene.weir.address.count)
            do {
                let player = try RawConnection(port: port)
                try await player.send("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
                _ = try await player.receiveHead()
                #expect(try await player.receive(count: 30_000).bytes == file.prefix(30_000))
            }
            // The transfer is stopped, or continues if the next player comes in time: no byte is requested twice.
            try await scene.origin.release()
            #expect(try await HTTPProbe.fetch(segment).body == file)
            let requests = try await scene.mediaRequests()
            #expect(requests.allSatisfy { $0.path == "/ts/270p/0.ts" } && requests.count <= 2)
            #expect(requests.dropFirst().allSatisfy { $0.range?.hasPrefix("bytes=") ?? false })
        }
    }

    @Test("is not made for resources that a download has stored")
    func requestsNothingStored() async throws {
        try await Scene.with { scene in
            #expect(try await scene.get("cmaf", ["-q", "180p", "--audio", "all", "--subs", "all"]).exit == .code(0))
            try await scene.origin.clearRequests()
            let bodies = try await PlaylistWalk.load(scene.weir.url("/cmaf.m3u8"))
            #expect(bodies.count == 35)
            #expect(try await scene.get("cmaf", ["-q", "180p"]).exit == .code(0))
            #expect(try await scene.mediaRequests().map(\.resource) == [])
            // Only the resources of another variant.
            #expect(try await scene.get("cmaf", ["-q", "90p"]).exit == .code(0))
            #expect(try await scene.mediaRequests().allSatisfy { $0.path.hasPrefix("/cmaf/video-90p/") })
            #expect(try await scene.mediaRequests().count == 13)
        }
    }
}
