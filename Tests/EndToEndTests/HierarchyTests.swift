import Foundation
import TestSupport
import Testing

/// Two daemons in a row: the upper one is the origin of the lower.
@Suite("A daemon whose origin is another Weir")
struct HierarchyTests {
    /// Two daemons and an origin for one test.
    private struct Tower: Sendable {
        let scene: Scene
        let upper: WeirProcess
        var lower: WeirProcess { scene.weir }

        /// The upper daemon's URL of an origin path, with the host name `localhost`.
        func upperURL(_ path: String) async -> String {
            await "http://localhost:\(upper.port)/\(scene.origin.url(path))"
        }

        /// Restarts both with the same folders and ports, so that URLs stay the same.
        func restart() async throws {
            try await lower.kill()
            let port = await upper.port
            try await upper.kill()
            try await upper.start(options: ["--listen", "127.0.0.1:\(port)"])
            try await lower.start()
        }

        /// The lower daemon's pieces by inode: a refetch would change the inode.
        func pieces() throws -> [String: Int] {
            var pieces: [String: Int] = [:]
            for path in scene.pieces() {
                pieces[path] =
                    try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
            }
            return pieces
        }

        /// Expects that the origin got no request twice, and `masters` requests for entry playlists.
        func expectOnce(masters: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let paths = Dictionary(grouping: try await scene.origin.requests().filter { !$0.isComparison }, by: \.path)
                .mapValues(\.count)
            let twice = paths.filter { $0.value > ($0.key.hasSuffix("/master.m3u8") ? masters : 1) }
            #expect(twice == [:], sourceLocation: sourceLocation)
        }
    }

    private func tower(_ body: (Tower) async throws -> Void) async throws {
        let upper = try await WeirProcess()
        try await Scene.with { scene in try await body(Tower(scene: scene, upper: upper)) }
        try await upper.kill()
    }

    @Test("plays every frame with one origin request per piece, also without the upper daemon or the origin")
    func playsEveryFrame() async throws {
        try await tower { tower in
            for fixture in ["cmaf", "aes", "ts"] {
                let url = await tower.lower.url("/" + tower.upperURL("/\(fixture)/master.m3u8"))
                try await expectFrames(url, of: fixture)
                try await tower.expectOnce()
                try await expectFrames(url, of: fixture)
                // Each play may look at the entry, if the look before was some seconds earlier.
                try await tower.expectOnce(masters: 2)
                try await tower.scene.origin.clearRequests()
            }
            try await tower.scene.origin.stop()
            try await tower.upper.kill()
            let url = await tower.lower.url("/" + tower.upperURL("/ts/master.m3u8"))
            try await expectFrames(url, of: "ts")
        }
    }

    @Test("recognizes the asset after a reload with another session in its URLs: no piece is refetched")
    func recognizesAssetAfterReload() async throws {
        try await tower { tower in
            let source = await tower.upperURL("/cmaf/master.m3u8")
            let url = await tower.lower.url("/" + source)
            let variant = try #require(try await PlaylistWalk.segments(url).first)
            let segments = try await PlaylistWalk.segments(variant)
            for segment in segments.prefix(3) {
                _ = try await HTTPProbe.fetch(segment)
            }
            try await waitUntil("three segments") { try tower.pieces().count >= 3 }
            let before = try tower.pieces()
            try await tower.restart()
            // The entry is fetched again and contains the upper daemon's new session everywhere.
            let again = await tower.lower.url("/" + source)
            try await expectFrames(again, of: "cmaf")
            let after = try tower.pieces()
            for (path, inode) in before {
                #expect(after[path] == inode, "\(path)")
            }
            try await tower.expectOnce(masters: 2)
            let list = try await tower.lower.run(["list", "--json"])
            #expect(list.output.split(separator: "\n").count == 1, "\(list.output)")
        }
    }

    @Test("downloads a named asset of the upper daemon, and adds to it while the origin is absent")
    func downloadsNamedAsset() async throws {
        try await tower { tower in
            let got = try await tower.upper.run(
                ["get", tower.scene.origin.master("ts"), "-q", "90p", "--also", "-q 270p"])
            #expect(got.exit == .code(0), "\(got.errors)")
            try await tower.scene.origin.stop()
            let source = await "http://localhost:\(tower.upper.port)/ts.m3u8"
            let first = try await tower.lower.run(["get", source, "-q", "90p"])
            #expect(first.exit == .code(0), "\(first.errors)")
            let before = try tower.pieces()
            try await tower.restart()
            let second = try await tower.lower.run(["get", source, "-q", "270p"])
            #expect(second.exit == .code(0), "\(second.errors)")
            let after = try tower.pieces()
            #expect(before.count == 6 && after.count == 12)
            for (path, inode) in before {
                #expect(after[path] == inode, "\(path)")
            }
            let frames = try await FrameHashes.of(tower.lower.url("/offline/ts.m3u8"))
            #expect(try await frames.firstDifference(fromPartOf: PlainFrames.of("ts")) == nil)
            #expect(frames.streams.count == 4)
        }
    }

    @Test("is refused if it is itself, directly or through another daemon")
    func refusesItself() async throws {
        try await tower { tower in
            let own = await "http://localhost:\(tower.lower.port)/ts.m3u8"
            let answer = try await HTTPProbe.fetch(tower.lower.url("/" + own))
            #expect(answer.status >= 500 && answer.isComplete, "\(answer.text)")
            let round = await tower.lower.url("/http://localhost:\(tower.upper.port)/\(own)")
            let turned = try await HTTPProbe.fetch(round)
            #expect(turned.status >= 400 && turned.isComplete, "\(turned.text)")
            #expect(try await tower.lower.run(["list", "--json"]).output == "")
        }
    }
}
